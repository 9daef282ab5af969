/** Where things lie for PHP, which is all that most of this runtime needs to know of it. */

export const siteFolder = "/site";
export const databaseFolder = "/database";
export const sessionFolder = "/sessions";
export const opcodeFolder = "/opcodes";
