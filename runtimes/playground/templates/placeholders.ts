/** What stands in a template where an environment has values of its own. None of it occurs in WordPress itself. */
export const placeholders = {
  address: "http://placeholder.invalid",
  host: "placeholder.invalid",
  title: "Placeholdertitle",
  adminUser: "placeholderuser",
  adminEmail: "placeholder@email.invalid",
} as const;

/** Found in every one of them, whatever the case. */
export const placeholderMark = "placeholder";
