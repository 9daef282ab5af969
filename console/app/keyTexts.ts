/** Texts about revoking API keys, and about their scopes. */
export const keyTexts = {
  keyRevocation: {
    replaced: "Replaced",
    title: (name: string) => `Revoke ${name}`,
    warning: "The key, and all keys that were created with it, are refused at once. This can't be undone.",
    verb: "Revoke",
    which: "This key has been rotated: another one has replaced it.",
    one: "Revoke only this key",
    oneHint:
      "Programs that use its successor keep working. Don't choose this if somebody may have copied the key: they could have rotated it.",
    both: "Revoke its successor, too",
    bothHint: "Programs that use this key or one that has replaced it stop working.",
  },
  keyScope: {
    labels: "Only sites with these labels",
    labelsHint: "Empty: all sites that you have. Sites that get one of the labels later are included.",
  },
} as const;
