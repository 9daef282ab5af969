/**
 * Who PostgreSQL runs as. It refuses to run as root, so a supervisor that is root hands it to an
 * unprivileged account. The account needs an entry in the user database, because PostgreSQL looks itself up.
 */
import { lchownSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface PostgresUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference: one made for us, one made for PostgreSQL, and one that every system has but shares. */
const candidates = ["sitewright", "postgres", "nobody"] as const;

/** The account to switch to, or null if this process is not root and PostgreSQL runs as the same user. */
export function postgresUser(): PostgresUser | null {
  if (process.getuid?.() !== 0) {
    return null;
  }
  const user = chooseUser(readFileSync("/etc/passwd", "utf8"));
  if (user === null) {
    throw new Error(
      "PostgreSQL can't run as root, and there is no other user to run it as. " +
        "Add one (useradd --system sitewright), or start Sitewright as a normal user, or set DATABASE_URL.",
    );
  }
  return user;
}

/** Picks the account out of the text of /etc/passwd; one that is root under another name does not count. */
export function chooseUser(passwd: string): PostgresUser | null {
  const entries = new Map(passwd.split("\n").map((line) => [line.split(":")[0], line.split(":")]));
  for (const name of candidates) {
    const entry = entries.get(name);
    const uid = unsigned(entry?.[2]);
    const gid = unsigned(entry?.[3]);
    if (uid !== null && gid !== null && uid !== 0) {
      return { name, uid, gid };
    }
  }
  return null;
}

/** macOS writes the uid of `nobody` as -2. */
function unsigned(text: string | undefined): number | null {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) >>> 0 : null;
}

/**
 * Returns a folder and everything in it to the account, where it isn't so already: a cluster that an
 * earlier start made under another account (`nobody`, before `sitewright` was added) stays usable.
 */
export function giveFolder(path: string, user: PostgresUser): void {
  if (lstatSync(path).uid === user.uid) {
    return;
  }
  // The folder itself comes last, so that a broken-off run is taken up again.
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    lchownSync(join(path, entry), user.uid, user.gid);
  }
  lchownSync(path, user.uid, user.gid);
}
