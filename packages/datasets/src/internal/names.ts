const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/u)

/** The two words of a name by type of entity. The lists are disjoint, so a word says type and place. */
export const names = {
  person: [
    words(`Marlen Irva Tobrin Selka Davork Ylena Corvin Mirell Haldon Osna Perrik Jorva Lunet Kestrin Brisa Tavin Elsin
      Rovane Dessa Quillan Neryth Aldrik Fenna Hobrin Vesnar Iskar Pethra Zorin Callen Emrik Thessa Ruvan Linnet Garrit
      Orielle Sabrin Wendra Joren Mavik Ulric`),
    words(`Tovik Volst Karrow Dremond Amsel Harnik Quarle Bessin Ollard Pruett Venmar Struke Lodrin Fasker Hollin Mendry
      Casselt Ortagan Wrenlow Galder Ruskell Terval Nimmick Brandel Sorley Ibsand Haldane Kettrel Morva Pinsker Duvalle
      Yarrowen Zellick Crandle Ekhart Vargan Lindor Taskell Rennick Abendale`)
  ],
  town: [
    words(`Ostrel Brenham Caldry Dunmore Eskel Farrow Grenvik Hasle Ilmar Jarrow Kelmont Larkin Morwen Norvel Oakmere Pellar
      Quent Rosk Silden Tarn Ulmer Vardale Wexcombe Yelm Zarnow Ashbel Bodren Cromel Drayle Elmsor Fenwar Galdor Hespin
      Inver Kirnal Lodham Merrow Nethby Orsett Pryde`),
    words(`Bay Bridge Cross Dale Falls Ford Gate Glen Green Grove Harbour Haven Heath Hill Hollow Island Junction Lake
      Landing Meadow Mount Moor Park Pass Point Pond Port Ridge Rock Sands Shore Spring Square Terrace Valley Vale View
      Well Wharf Wood`)
  ],
  company: [
    words(`Denco Armitel Balvex Corda Dystra Elvion Fortix Gantor Helvar Intrico Jovex Kordal Lumexa Mirco Nordane Optril
      Pavona Quorex Rendal Solvex Tandrix Unarix Vantor Wexor Xandor Yottar Zephrin Altrium Bremcor Cindrel Daxon Ermine
      Fibrel Galvio Hexcor Isonel Jubrel Kestra Ligno Monarc`),
    words(`Mills Works Brothers Foundry Textiles Mining Shipping Railways Press Glass Steel Brewery Timber Motors Chemicals
      Ceramics Tools Watches Paper Leather Salt Optics Engines Cables Pottery Dyes Carpets Bakery Printers Clocks Lamps
      Cement Rubber Copper Instruments Tobacco Soap Pianos Bicycles Gas`)
  ],
  river: [
    words(`Ulva Senn Torrel Mirrow Aldren Bayle Corrin Dorth Evenla Ferrin Glaste Hulme Isarn Jorden Kalder Lorneth Mendro
      Nissa Orrin Pask Quarn Rhyll Sorran Teyne Ussa Vyrne Wenslo Yarrin Zeldor Ambril Brathe Cleddo Dovra Erren Fosse
      Garra Hodde Inwen Kennar Lathe`),
    words(`Sedge Water Brook Beck Burn Creek Stream Run Rill Flow Race Bourne Wash Fork Branch Reach Drift Bend Rapids
      Torrent Current Channel Cascade Deep Shallows Narrows Eddy Ripple Swirl Pool Mere Lode Leat Dyke Fleet Strand Marsh
      Delta Weir Tide`)
  ]
} as const
