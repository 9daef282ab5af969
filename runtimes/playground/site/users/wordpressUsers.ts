/** Who is in a site's database, asked for by e-mail address. */
import { DatabaseSync } from "node:sqlite";
import { RuntimeFailure, type WordPressUser } from "../../../runtime.ts";
import { hasTable, requireTables } from "../database/wordpressTables.ts";

/** How long a reader waits for one who is just writing. */
const patienceMilliseconds = 5_000;
/** So many users with one address are looked at: WordPress itself makes no second one. */
const mostUsers = 100;
const longestLogin = 200;

interface Row {
  readonly id: number;
  readonly login: string;
  readonly isAdministrator: boolean;
}

/** As WordPress stores an address, which it treats like HTML. */
function storedForms(email: string): readonly [string, string] {
  return [email, email.replaceAll("&", "&amp;")];
}

function usersWith(database: DatabaseSync, email: string): readonly Row[] {
  return database
    .prepare(
      `SELECT user.ID AS id, substr(user.user_login, 1, ${longestLogin}) AS login, EXISTS (
         SELECT 1 FROM wp_usermeta AS meta WHERE meta.user_id = user.ID
         AND meta.meta_key = 'wp_capabilities' AND instr(meta.meta_value, '"administrator";b:1;') > 0
       ) AS isAdministrator
       FROM wp_users AS user WHERE lower(user.user_email) IN (lower(?), lower(?))
       ORDER BY user.ID LIMIT ${mostUsers}`,
    )
    .all(...storedForms(email))
    .map((row) => ({
      id: Number(row.id),
      login: String(row.login),
      isAdministrator: row.isAdministrator === 1,
    }));
}

/** A network names those who may do everything everywhere, whether or not they are members of any of its sites. */
function isSuperAdministrator(database: DatabaseSync, login: string): boolean {
  if (!hasTable(database, "wp_sitemeta", ["meta_key", "meta_value"])) return false;
  const named = `s:${Buffer.byteLength(login)}:"${login}";`;
  const row = database
    .prepare("SELECT 1 FROM wp_sitemeta WHERE meta_key = 'site_admins' AND instr(meta_value, ?) > 0 LIMIT 1")
    .get(named);
  return row !== undefined;
}

/** In whatever case. Of several with that address, an administrator. Throws `RuntimeFailure` if nobody could be read. */
export function findStoredUser(file: string, email: string): WordPressUser | null {
  const database = new DatabaseSync(file, { readOnly: true, timeout: patienceMilliseconds });
  try {
    requireTables(database, ["wp_users", "wp_usermeta"]);
    const users = usersWith(database, email).map((user) => ({
      ...user,
      isAdministrator: user.isAdministrator || isSuperAdministrator(database, user.login),
    }));
    const found = users.find(({ isAdministrator }) => isAdministrator) ?? users[0] ?? null;
    if (found !== null && !Number.isSafeInteger(found.id)) throw new RuntimeFailure("The user's number is none.");
    return found;
  } finally {
    database.close();
  }
}
