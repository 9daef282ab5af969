/** The tabs of a site's page, as its address names them. */
export const siteTabs = [
  "overview",
  "analytics",
  "updates",
  "backups",
  "domains",
  "environments",
  "redirects",
  "tools",
  "mail",
  "settings",
  "logs",
] as const;

export type SiteTab = (typeof siteTabs)[number];

/** The tab of that name, or the first one. */
export const tabNamed = (name: unknown): SiteTab => siteTabs.find((known) => known === name) ?? "overview";
