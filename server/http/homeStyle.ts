/** The style sheet of the page at `/`, which is inlined. */
export const homeStyle = `
:root { color-scheme: light dark; --line: light-dark(#dcdfe4, #33373d); --soft: light-dark(#f4f5f7, #1d2025);
  --text: light-dark(#1c1f24, #e8eaed); --muted: light-dark(#5a626e, #a2a9b4); --accent: light-dark(#0b5cad, #7db7f5); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 2.5rem 1.25rem 4rem; color: var(--text);
  background: light-dark(#fff, #14161a); font: 1rem/1.55 system-ui, sans-serif; }
header p { font-size: 1.125rem; color: var(--muted); margin-top: 0; }
h1 { margin: 0 0 .25rem; font-size: 2rem; letter-spacing: -.02em; }
h2 { margin-top: 2.5rem; }
h3 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; overflow-x: auto; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.25rem; padding: 1rem; margin: 1.5rem 0;
  background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; }
.facts dt { color: var(--muted); } .facts dd { margin: 0; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .4rem 0; padding: 0 .75rem; }
summary { cursor: pointer; padding: .5rem 0; }
summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
summary > span:last-child { color: var(--muted); margin-left: .5rem; }
.method { display: inline-block; min-width: 4.2em; font-size: .75rem; font-weight: 700; letter-spacing: .04em; color: var(--accent); }
.method.delete { color: light-dark(#b3261e, #f2a19b); } .method.post { color: light-dark(#1a6b3c, #82d3a2); }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; font-size: .925rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .35rem .75rem .35rem 0; font-weight: 400; }
td:nth-child(2) { color: var(--muted); white-space: nowrap; }
`;
