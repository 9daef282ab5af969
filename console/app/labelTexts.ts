/** Texts about labels of sites. */
export const labelTexts = {
  labels: {
    title: "Labels",
    hint: "Labels group sites. People and API keys can be limited to the sites that have a label.",
    add: "Create a label",
    name: "Name of the label",
    list: "Labels",
    none: "There are no labels yet",
    noneHint: "Create one for a client or a kind of site, and then add it to sites on the page of sites.",
    sites: (count: number) => (count === 1 ? "One site" : `${count} sites`),
    rename: "Rename",
    renameNamed: (name: string) => `Rename ${name}`,
    newName: "New name",
    remove: "Delete",
    removeNamed: (name: string) => `Delete ${name}`,
    removeWarning: (count: number) =>
      `${count === 1 ? "One site loses" : `${count} sites lose`} it. People and API keys that see sites because of it no longer see them. This can't be undone.`,
    needsAdmin: "Only owners and admins can change labels, because labels decide what people see.",
    field: "Also sites with these labels",
    fieldHint: "Sites that get one of these labels later are included.",
    someLabels: (count: number) => (count === 1 ? "sites with one label" : `sites with one of ${count} labels`),
    withLabels: (names: string) => `sites labelled ${names}`,
  },
} as const;
