/** The style of a report, for screens and paper, light and dark. */
export const style = `
:root { color-scheme: light dark; --surface: light-dark(#ffffff, #181e1d); --raised: light-dark(#f0f2f2, #212928); --line: light-dark(#e3e7e7, #2a3332); --text: light-dark(#16201f, #e7edec); --muted: light-dark(#566160, #a2afad); --faint: light-dark(#9aa7a5, #65726f); --accent: light-dark(#0f766e, #4fd1c1); --accent-soft: light-dark(#d9efec, #14403b); --good: light-dark(#116632, #5fd48a); --bad: light-dark(#b42318, #ff8f84); --prune: light-dark(#c2410c, #fb923c); --evolve: light-dark(#6d28d9, #b79bff); --answer-soft: light-dark(#e0f5e8, #123222); --curve-0: light-dark(#0f766e, #4fd1c1); --curve-1: light-dark(#c2410c, #fb923c); --curve-2: light-dark(#4f46e5, #a5a1ff); --curve-3: light-dark(#a16207, #e0b64a); --curve-4: light-dark(#be185d, #f58bbd); --curve-5: light-dark(#0369a1, #64b8f0); --curve-6: light-dark(#4d7c0f, #a3d15a); --curve-7: light-dark(#6b7280, #a9b2bd) }
* { box-sizing: border-box }
html { font-size: clamp(14px, 12px + .3125vw, 28px) }
body { margin: 0 auto; max-width: max(66rem, 55vw); padding: 2rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--surface) }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .7rem }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem }
p { margin: .4rem 0 }
.muted, caption { color: var(--muted) }
.lead { font-size: 1.1rem; max-width: 70ch }
.scroll { overflow-x: auto }
table + table, .scroll + .scroll { margin-block-start: 1.2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
caption { text-align: start; font-size: .9rem; padding-block-end: .4rem }
th, td { padding: .35rem .7rem .35rem 0; text-align: start; vertical-align: top; border-block-end: 1px solid var(--line) }
thead th { font-weight: 500; color: var(--muted); font-size: .88rem }
tbody th { font-weight: 500 }
.num { text-align: end; white-space: nowrap }
tr.headline { background: var(--accent-soft); font-weight: 600 }
figure { margin: 0; min-width: 0 }
figcaption { display: flex; flex-wrap: wrap; gap: 0 .9rem; font-size: .92rem }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.4rem }
svg { display: block; width: 100%; height: auto; overflow: visible }
svg text { fill: var(--muted); font-size: 11px }
.wide svg text { font-size: 8px }
.grid { stroke: var(--line) }
.mark line { opacity: .45 } .mark.prune { stroke: var(--prune); fill: var(--prune) } .mark.prune line { stroke-dasharray: 3 3 } .mark.evolve { stroke: var(--evolve); fill: var(--evolve) } .mark.skip { stroke: var(--faint) }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke: currentColor } circle.curve { fill: currentColor }
.band { stroke: none; fill: currentColor; opacity: .18 }
.accent { color: var(--accent) } .faint { color: var(--faint) } .curve.faint { stroke-width: 1.2 }
.c0 { color: var(--curve-0) } .c1 { color: var(--curve-1) } .c2 { color: var(--curve-2) } .c3 { color: var(--curve-3) } .c4 { color: var(--curve-4) } .c5 { color: var(--curve-5) } .c6 { color: var(--curve-6) } .c7 { color: var(--curve-7) }
.key { color: var(--muted) } .key::before { content: "— "; font-weight: 700 }
.key.accent::before { color: var(--accent) } .key.faint::before { color: var(--faint) } .key.c0::before { color: var(--curve-0) } .key.c1::before { color: var(--curve-1) } .key.c2::before { color: var(--curve-2) } .key.c3::before { color: var(--curve-3) } .key.c4::before { color: var(--curve-4) } .key.c5::before { color: var(--curve-5) } .key.c6::before { color: var(--curve-6) } .key.c7::before { color: var(--curve-7) }
.ribbon { --ribbon: light-dark(oklch(72% calc(var(--chroma) * .85) var(--hue)), oklch(56% calc(var(--chroma) * .85) var(--hue))) } polygon.ribbon { fill: var(--ribbon) } .key.ribbon::before { content: "■ "; color: var(--ribbon) }
.better { color: var(--good); font-weight: 600 } .worse { color: var(--bad); font-weight: 600 } .costs-more { color: var(--prune) } .undecided, .costs-the-same { color: var(--muted) }
svg.interval { width: 12rem; min-width: 8rem } .range { fill: var(--faint); opacity: .6 } .mean { fill: var(--text) }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; max-width: 75ch }
blockquote { margin: .5rem 0; padding: .4rem .9rem; border-inline-start: 3px solid var(--accent); background: var(--raised) }
ins { color: var(--good); background: var(--answer-soft); text-decoration-thickness: 1px } del { color: var(--bad) } del + ins { margin-inline-start: .25em }
pre { padding: .8rem 1rem; background: var(--raised); overflow-x: auto; font-size: .88rem }
summary { cursor: pointer; font-weight: 600 }
@media screen and (width < 46rem) {
  table { font-size: .88rem }
  th, td { padding-inline-end: .4rem }
  .num { white-space: normal }
  svg text { font-size: 13px }
  .wide svg text { font-size: 18px }
  table:has(svg.interval) :is(th, td):nth-child(4) { display: none }
}
@media print {
  @page { size: A4; margin: 12mm }
  html { font-size: 8.6pt }
  body { max-width: none; padding: 0; line-height: 1.35 }
  h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 1rem 0 .3rem; break-after: avoid } h3 { margin: .5rem 0 .1rem }
  .lead, .text { max-width: none }
  th, td { padding-block: .12rem }
  .figures { grid-template-columns: repeat(3, 1fr); gap: .7rem }
  figcaption { font-size: .8rem }
  .wide svg { max-height: 34mm }
  article, figure, tr { break-inside: avoid }
  blockquote { margin: .2rem 0; padding: .2rem .6rem }
  details:not([open]), h2:has(+ details:not([open])) { display: none }
}
`

/** The style of a separate figure, as in a README: colours that are readable on white and on black. */
export const svgStyle = `
text { font: 11px system-ui, sans-serif; fill: #7a8583 } .title { font-weight: 600; font-size: 12px } .name { fill: currentColor; font-weight: 600 }
.grid { stroke: #7a858340 } .mark line { opacity: .45 } .mark.prune { stroke: #d9622b; fill: #d9622b } .mark.prune line { stroke-dasharray: 3 3 } .mark.evolve { stroke: #8b5cf6; fill: #8b5cf6 } .mark.skip { stroke: #7a8583 }
.curve { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round } .curve.faint { stroke-width: 1.2 } circle.curve, .ribbon { fill: currentColor } .band { stroke: none; fill: currentColor; opacity: .18 }
.accent, .c0 { color: #14958a } .faint { color: #8f9a98 } .c1 { color: #d9622b } .c2 { color: #6d68ea } .c3 { color: #b07d18 } .c4 { color: #d0447f } .c5 { color: #1f86c7 } .c6 { color: #5f9320 } .c7 { color: #7f8a96 }
`
