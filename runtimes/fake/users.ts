/** Users in the fake's database, and the platform tasks about them. */
import type { WordPressUser } from "../runtime.ts";
import type { Tables } from "./database.ts";

interface FakeUser extends WordPressUser {
  readonly email: string;
}

function isUser(row: unknown): row is FakeUser {
  return typeof row === "object" && row !== null && "email" in row && "isAdministrator" in row;
}

function usersIn({ wp_users: rows = [] }: Tables): readonly FakeUser[] {
  return rows.filter(isUser);
}

export function findUser(tables: Tables, email: string): WordPressUser | null {
  const wanted = email.toLowerCase();
  const users = usersIn(tables).filter((user) => user.email.toLowerCase() === wanted);
  const found = users.find(({ isAdministrator }) => isAdministrator) ?? users[0];
  return found === undefined ? null : { id: found.id, login: found.login, isAdministrator: found.isAdministrator };
}

/** Answers like `platform/tasks/createUser.php`. */
export function createUser(tables: Tables, email: string): { readonly tables: Tables; readonly answer: object } {
  if (findUser(tables, email) !== null) return { tables, answer: { refused: "exists" } };
  const users = usersIn(tables);
  const user: FakeUser = { id: users.length + 1, login: `user${users.length + 1}`, email, isAdministrator: true };
  return { tables: { ...tables, wp_users: [...users, user] }, answer: { created: user.id } };
}
