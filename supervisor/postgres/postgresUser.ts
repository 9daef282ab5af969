/**
 * The user that PostgreSQL runs as. It refuses to run as root, so a supervisor that is root uses an unprivileged user.
 * That user needs an entry in the user database, because PostgreSQL looks it up.
 */
import { lchownSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface PostgresUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference. Every system has `nobody`, but other programs use it too. */
const candidates = ["sitewright", "postgres", "nobody"] as const;

/** The user to switch to, or null if this process is not root. */
export function postgresUser(): PostgresUser | null {
  if (process.getuid?.() !== 0) {
    return null;
  }
  const user = chooseUser(readFileSync("/etc/passwd", "utf8"));
  if (user === null) {
    throw new Error(
      "PostgreSQL can't run as root, and there is no other suitable user. " +
        "Add one (useradd --system sitewright), start Sitewright as a normal user, or set DATABASE_URL.",
    );
  }
  return user;
}

/** Picks the user from the text of /etc/passwd. Skips users with uid 0. Returns null if there is none. */
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

/** Parses a uid or gid, or returns null. macOS writes the uid of `nobody` as -2. */
function unsigned(text: string | undefined): number | null {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) >>> 0 : null;
}

/**
 * Gives a folder and its content to the user, so that a cluster stays usable after a change of user, such as when
 * `sitewright` was added after a start as `nobody`.
 */
export function chownFolder(path: string, user: PostgresUser): void {
  if (lstatSync(path).uid === user.uid) {
    return;
  }
  // The folder itself comes last, so that the next start repeats an interrupted run.
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    lchownSync(join(path, entry), user.uid, user.gid);
  }
  lchownSync(path, user.uid, user.gid);
}
