/** Finds a user in a site's database by e-mail address. */
import { DatabaseSync } from "node:sqlite";
import { RuntimeFailure, type WordPressUser } from "../runtime.ts";
import { hasTable, requireTables } from "./wordpressTables.ts";

/** How long a reader waits for a writer. */
const lockTimeoutMilliseconds = 5_000;
/** Limit for users with the same e-mail address. WordPress itself creates no second one. */
const maxUsers = 100;
const maxLoginLength = 200;

interface Row {
  readonly id: number;
  readonly login: string;
  readonly isAdministrator: boolean;
}

/** Returns the forms in which WordPress may have stored an e-mail address, which it escapes like HTML. */
function storedForms(email: string): readonly [string, string] {
  return [email, email.replaceAll("&", "&amp;")];
}

function usersWith(database: DatabaseSync, email: string): readonly Row[] {
  return database
    .prepare(
      `SELECT user.ID AS id, substr(user.user_login, 1, ${maxLoginLength}) AS login, EXISTS (
         SELECT 1 FROM wp_usermeta AS meta WHERE meta.user_id = user.ID
         AND meta.meta_key = 'wp_capabilities' AND instr(meta.meta_value, '"administrator";b:1;') > 0
       ) AS isAdministrator
       FROM wp_users AS user WHERE lower(user.user_email) IN (lower(?), lower(?))
       ORDER BY user.ID LIMIT ${maxUsers}`,
    )
    .all(...storedForms(email))
    .map((row) => ({
      id: Number(row.id),
      login: String(row.login),
      isAdministrator: row.isAdministrator === 1,
    }));
}

/** Whether a network lists the user as super administrator, who can do everything on all its sites. */
function isSuperAdministrator(database: DatabaseSync, login: string): boolean {
  if (!hasTable(database, "wp_sitemeta", ["meta_key", "meta_value"])) return false;
  const named = `s:${Buffer.byteLength(login)}:"${login}";`;
  const row = database
    .prepare("SELECT 1 FROM wp_sitemeta WHERE meta_key = 'site_admins' AND instr(meta_value, ?) > 0 LIMIT 1")
    .get(named);
  return row !== undefined;
}

/**
 * Finds a user by e-mail address, ignoring case; of several, an administrator. Throws `RuntimeFailure` if the users
 * can't be read.
 */
export function findStoredUser(file: string, email: string): WordPressUser | null {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeoutMilliseconds });
  try {
    requireTables(database, ["wp_users", "wp_usermeta"]);
    const users = usersWith(database, email).map((user) => ({
      ...user,
      isAdministrator: user.isAdministrator || isSuperAdministrator(database, user.login),
    }));
    const found = users.find(({ isAdministrator }) => isAdministrator) ?? users[0] ?? null;
    if (found !== null && !Number.isSafeInteger(found.id))
      throw new RuntimeFailure("WordPress returned an invalid user ID.");
    return found;
  } finally {
    database.close();
  }
}
