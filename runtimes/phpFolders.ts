/** Folders as PHP sees them. */

export const siteFolder = "/site";
export const databaseFolder = "/database";
export const sessionFolder = "/sessions";
export const temporaryFolder = "/tmp";
/** In PHP's memory, for files that only one request needs: uploads until a script moves them, and what SQLite sorts. */
export const memoryFolder = "/memory";
export const opcodeFolder = "/opcodes";
