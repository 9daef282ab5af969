/** Texts about the list of sites, its filters and actions on many sites. */
import { numberText } from "./numberFormats.ts";

const sitesOf = (count: number) => (count === 1 ? "one site" : `${numberText(count)} sites`);

/** Number of sites in each state of an action. */
interface BulkCounts {
  readonly done: number;
  readonly failed: number;
  readonly unneeded: number;
  readonly running: number;
  readonly unsent: number;
}

export const overviewTexts = {
  overview: {
    list: "Sites",
    matches: (count: number) => (count === 1 ? "One site" : `${numberText(count)} sites`),
    labels: "Labels",
    filters: "Filters",
    filtersActive: (count: number) => `Filters (${count})`,
    noMatch: "No site matches these filters",
    any: "Any",
    label: "Label",
    state: "State",
    states: { ready: "Ready", busy: "Busy", awaits_rebuild: "Being rebuilt" },
    noLive: "No live environment",
    wordpress: "WordPress",
    php: "PHP",
    updates: "Updates",
    updatesChoices: { yes: "With updates", no: "Without updates" },
    risk: "Risk",
    riskChoices: { yes: "Known vulnerabilities", no: "None known" },
    proven: "Test restore",
    provenChoices: { yes: "In the last 30 days", no: "Not in the last 30 days" },
    site: "Site",
    created: "Created",
    name: "Name",
    sortBy: "Sort by",
    descending: "Descending",
    picture: "Picture",
    vulnerable: (count: number) => `${count} vulnerable`,
    updateCount: (count: number) => (count === 1 ? "1 update" : `${count} updates`),
    none: "none",
    never: "never",
    select: (name: string) => `Select ${name}`,
    selectColumn: "Selection",
    environments: (count: number) => `${count} environments`,
  },
  bulk: {
    selected: (count: number) => `Selected: ${sitesOf(count)}`,
    selectAll: (count: number) => `Select all ${numberText(count)} that match`,
    clear: "Clear the selection",
    actions: "Actions",
    bar: "Actions for the selected sites",
    names: {
      clearCache: "Clear the cache",
      restartPhp: "Restart PHP",
      updatePlugins: "Update plugins",
      updateThemes: "Update themes",
      updateWordPress: "Update WordPress",
      backUp: "Back up now",
      changePhp: "Change the PHP version",
      automaticUpdates: "Set automatic updates",
      addLabel: "Add a label",
      removeLabel: "Remove a label",
      deleteSites: "Delete",
    },
    explanations: {
      clearCache: "Removes all cached pages. The next visit of each page is slower.",
      restartPhp: "Running requests finish first.",
      updatePlugins:
        "All plugins with an update. Each site is tested on a copy first, and stays as it is if that fails.",
      updateThemes: "All themes with an update. Each site is tested on a copy first, and stays as it is if that fails.",
      updateWordPress: "To the newest version. Each site is tested on a copy first, and stays as it is if that fails.",
      backUp: "A backup of files and database.",
      changePhp: "Each site is tried with the new version first, and keeps the present one if it doesn't answer.",
      automaticUpdates: "Replaces these settings. Exceptions and the time window of each site stay as they are.",
      addLabel: "People and API keys that are limited to the label will see the sites.",
      removeLabel: "People and API keys that are limited to the label will no longer see the sites.",
      deleteSites:
        "The sites and all their environments will no longer be reachable. They are backed up first, and can be restored for some days.",
    },
    live: "For the live environment of each site.",
    title: (action: string, count: number) => `${action}: ${sitesOf(count)}`,
    start: (count: number) => `Start for ${sitesOf(count)}`,
    chooseFirst: "Choose a value first.",
    phpVersion: "PHP version",
    label: "Label",
    plugins: "Update plugins automatically",
    themes: "Update themes automatically",
    panel: "Actions on many sites",
    counts: ({ done, failed, unneeded, running, unsent }: BulkCounts) =>
      [
        `${done} succeeded`,
        `${failed} failed`,
        ...(unneeded > 0 ? [`${unneeded} with nothing to do`] : []),
        ...(running > 0 ? [`${running} running`] : []),
        ...(unsent > 0 ? [`${unsent} not sent yet`] : []),
      ].join(", "),
    keepOpen: (unsent: number) =>
      `Keep this tab open: ${unsent === 1 ? "one request has" : `${unsent} requests have`} not been sent yet. What has been sent goes on without it.`,
    failures: "Show what failed",
    hideFailures: "Hide what failed",
    retry: (count: number) => (count === 1 ? "Try the failed one again" : `Try the ${count} failed ones again`),
    dismiss: "Close",
    noLive: "The site has no live environment.",
    updatesUnknown: "It is not known whether there are updates: the last check failed, or there was none yet.",
    gone: (count: number) =>
      count === 1
        ? "One selected site no longer matches the filters, or has been deleted. It is left out."
        : `${numberText(count)} selected sites no longer match the filters, or have been deleted. They are left out.`,
    noneLeft: "None of the selected sites is left.",
    manySites: (count: number) => `${count} sites together`,
    needsAdmin: "Only owners and admins can do this.",
  },
} as const;
