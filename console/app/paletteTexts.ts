/** Texts of the command palette. */
export const paletteTexts = {
  palette: {
    open: "Search",
    title: "Search pages, sites and actions",
    placeholder: "Page, site or action",
    pages: "Pages",
    sites: "Sites",
    actions: "On this page",
    nothing: "Nothing matches.",
    searching: "Searching the sites …",
    count: (count: number) => (count === 1 ? "One result" : `${count} results`),
    keys: "↑ ↓ to choose, Enter to open, Esc to close",
  },
} as const;
