/** Runs in the browser: adapts openapi-explorer to narrow windows and the keyboard, and shows it. */

const narrow = "(max-width: 767.98px)";

/** Added to the explorer's own styles. In narrow windows, the open menu replaces the content, and tables become lists. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
  :host {
    --font-size-regular: 16px;
    --font-size-small: 14px;
    --font-size-mono: 14px;
    --inline-code-fg: light-dark(brown, #f2a19b);
  }
  ::placeholder { opacity: 0.6; }
  .m-btn.primary:hover { color: var(--primary-btn-text-color); }
  #operations-root:focus { outline: none; }
  /* The explorer's arrow is a data: URL, which the policy of the page forbids. */
  select { appearance: auto !important; background-image: none !important; }
  @media ${narrow} {
    :host([menu]) .nav-bar { display: flex; width: 100%; }
    :host([menu]) .main-content { display: none; }
    .dialog-box { min-width: 92vw; overflow-wrap: anywhere; }
    .section-gap--focused-mode, .section-gap--read-mode { padding: 1rem; }
    .m-markdown { margin-right: 0 !important; }
    .m-table, .m-table :is(tbody, tr, td) { display: block; width: auto !important; }
    .m-table td > :is(div, input, select) { margin-block: 0.25rem !important; }
    .param-name, .param-type { text-align: left; }
    .resp-headers + table :is(tbody, tr, td) { display: block; min-width: 0 !important; }
    .resp-headers + table td + td { border: 0 !important; padding-block: 0 4px !important; padding-inline: 8px !important; }
    .table > div > div:first-child { display: none !important; }
    .key-descr > div { line-break: auto !important; overflow-wrap: anywhere; }
    .table .tr { flex-wrap: wrap; }
    .table .key, .table .key-type { width: auto; max-width: none; margin-right: 1rem; }
    .table .key-descr { display: block; flex-basis: 100%; padding-left: 2rem; }
  }
`);
for (const name of ["openapi-explorer", "api-response", "schema-table"])
  customElements.get(name).elementStyles.push(sheet);

const Explorer = customElements.get("openapi-explorer");
// In narrow windows, it would switch to a list that leaves out the descriptions of parameters.
Explorer.prototype.handleResize = () => undefined;

const colors = matchMedia("(prefers-color-scheme: dark)").matches
  ? ["#7db7f5", "#14161a", "#e8eaed", "#1d2025", "#2a3038"]
  : ["#0b5cad", "#ffffff", "#1c1f24", "#f4f5f7", "#e3e9f1"];
const [accent, background, text, soft, selected] = colors;
const attributes = {
  "spec-url": "/v2/openapi.json",
  "hide-server-selection": "true",
  "hide-components": "true",
  ...(matchMedia(narrow).matches && { collapse: "true" }),
  "primary-color": accent,
  "secondary-color": accent,
  "bg-color": background,
  "text-color": text,
  "nav-bg-color": soft,
  "nav-text-color": text,
  "nav-hover-bg-color": selected,
  "nav-hover-text-color": accent,
};
const explorer = new Explorer();
for (const [name, value] of Object.entries(attributes)) explorer.setAttribute(name, value);

const menu = document.querySelector("button");
menu.hidden = false;
function showMenu(isOpen) {
  explorer.toggleAttribute("menu", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
}
menu.addEventListener("click", () => showMenu(!explorer.hasAttribute("menu")));
explorer.addEventListener("event", ({ detail }) => {
  // Choosing a group only unfolds its endpoints.
  if (!detail.explorerLocation?.startsWith("tag--")) showMenu(false);
});
explorer.addEventListener("spec-loaded", async () => {
  await explorer.updateComplete;
  // The explorer focuses this element when an endpoint is chosen, so that the Tab key continues there.
  explorer.shadowRoot.getElementById("operations-root").tabIndex = -1;
});
document.querySelector("main").append(explorer);
explorer.shadowRoot.addEventListener("focusin", ({ target }) => {
  // Browsers would store the key among the values of forms.
  if (target.matches(".api-key-input")) target.autocomplete = "off";
});
