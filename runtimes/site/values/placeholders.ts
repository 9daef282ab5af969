/** The values in a template that each environment replaces. None of them occurs in WordPress itself. */
export const placeholders = {
  address: "http://placeholder.invalid",
  host: "placeholder.invalid",
  title: "Placeholdertitle",
  adminUser: "placeholderuser",
  adminEmail: "placeholder@email.invalid",
} as const;

/** Contained in all of them, ignoring case. */
export const placeholderMark = "placeholder";
