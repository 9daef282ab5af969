/** Statements that work on MySQL, but which the database of an environment refuses. */

/**
 * What PHP writes into the environment's log before the reason for a refusal. A database of another kind needs a sentence of its own
 * here, because readers of the log find the statements by it.
 */
export const refusedStatementMark = "WordPress database error Not supported on SQLite: ";
