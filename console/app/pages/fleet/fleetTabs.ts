/** The tabs of the page about plugins and themes. */
export const fleetTabs = ["vulnerabilities", "plugins", "themes", "rollouts"] as const;

export type FleetTab = (typeof fleetTabs)[number];

export const fleetTabNamed = (name: unknown): FleetTab =>
  fleetTabs.find((known) => known === name) ?? "vulnerabilities";
