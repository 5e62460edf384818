/** The style of a report, for screens and paper, light and dark. */
export const style = `
:root { color-scheme: light dark; --text: #16201f; --muted: #566160; --ground: #fff; --line: #e0e5e5; --soft: #f3f5f5; --accent: #0f766e; --good: #0b6b3a; --good-soft: #e0f5e8; --bad: #b42318; --faint: #a3afad; --prune: #c2410c; --evolve: #6d28d9; --c0: #0f766e; --c1: #c2410c; --c2: #4f46e5; --c3: #a16207; --c4: #be185d; --c5: #0369a1; --c6: #4d7c0f; --c7: #6b7280 }
@media (prefers-color-scheme: dark) { :root { --text: #e7edec; --muted: #a2afad; --ground: #121817; --line: #2c3534; --soft: #1b2221; --accent: #4fd1c1; --good: #6fdc9b; --good-soft: #123222; --bad: #ff8f84; --faint: #65726f; --prune: #fb923c; --evolve: #b79bff; --c0: #4fd1c1; --c1: #fb923c; --c2: #a5a1ff; --c3: #e0b64a; --c4: #f58bbd; --c5: #64b8f0; --c6: #a3d15a; --c7: #a9b2bd } }
* { box-sizing: border-box }
html { font-size: clamp(14px, 12px + .3125vw, 28px) }
body { margin: 0 auto; max-width: max(66rem, 55vw); padding: 2rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--ground) }
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
tr.headline { background: var(--soft); font-weight: 600 }
figure { margin: 0; min-width: 0 }
figcaption { display: flex; flex-wrap: wrap; gap: 0 .9rem; font-size: .92rem }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.4rem }
svg { display: block; width: 100%; height: auto; overflow: visible }
svg text { fill: var(--muted); font-size: 11px }
.wide svg text { font-size: 8px }
.grid { stroke: var(--line) }
.mark { opacity: .45 } .mark.prune { stroke: var(--prune); stroke-dasharray: 3 3 } .mark.evolve { stroke: var(--evolve) } .mark.skip { stroke: var(--faint) }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke: currentColor }
.band { stroke: none; fill: currentColor; opacity: .18 }
.accent { color: var(--accent) } .faint { color: var(--faint) } .curve.faint { stroke-width: 1.2 }
.c0 { color: var(--c0) } .c1 { color: var(--c1) } .c2 { color: var(--c2) } .c3 { color: var(--c3) } .c4 { color: var(--c4) } .c5 { color: var(--c5) } .c6 { color: var(--c6) } .c7 { color: var(--c7) }
.key::before { content: "— "; font-weight: 700 }
svg.interval { width: 12rem; min-width: 8rem } .range { fill: var(--faint); opacity: .6 } .mean { fill: var(--text) }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; max-width: 75ch }
blockquote { margin: .5rem 0; padding: .4rem .9rem; border-inline-start: 3px solid var(--accent); background: var(--soft) }
ins { color: var(--good); background: var(--good-soft); text-decoration-thickness: 1px } del { color: var(--bad) } del + ins { margin-inline-start: .25em }
pre { padding: .8rem 1rem; background: var(--soft); overflow-x: auto; font-size: .88rem }
summary { cursor: pointer; font-weight: 600 }
@media screen and (width < 46rem) {
  table { font-size: .88rem }
  th, td { padding-inline-end: .4rem }
  thead .num { white-space: normal }
  svg text { font-size: 13px }
  .wide svg text { font-size: 18px }
  table:has(svg.interval) :is(th, td):nth-child(4) { display: none }
}
@media print { html { font-size: 16px } body { max-width: none } details { break-inside: avoid } }
`

/** The style of a separate figure, as in a README: colours that are readable on white and on black. */
export const svgStyle = `
text { font: 11px system-ui, sans-serif; fill: #7a8583 } .title { font-weight: 600; font-size: 12px } .name { fill: currentColor; font-weight: 600 }
.grid { stroke: #7a858340 } .mark { opacity: .45 } .mark.prune { stroke: #d9622b; stroke-dasharray: 3 3 } .mark.evolve { stroke: #8b5cf6 } .mark.skip { stroke: #7a8583 }
.curve { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round } .curve.faint { stroke-width: 1.2 } .band { stroke: none; fill: currentColor; opacity: .18 }
.accent, .c0 { color: #14958a } .faint { color: #8f9a98 } .c1 { color: #d9622b } .c2 { color: #6d68ea } .c3 { color: #b07d18 } .c4 { color: #d0447f } .c5 { color: #1f86c7 } .c6 { color: #5f9320 } .c7 { color: #7f8a96 }
`
