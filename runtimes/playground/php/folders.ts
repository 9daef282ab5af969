/** Folders as PHP sees them. */

export const siteFolder = "/site";
export const databaseFolder = "/database";
export const sessionFolder = "/sessions";
export const opcodeFolder = "/opcodes";
