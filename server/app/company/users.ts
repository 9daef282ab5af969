/** Users of a company. */
import { listUsers } from "@sitewright/server/store/company/users.ts";
import type { Context } from "../context.ts";

/** Lists the users of the caller's company. */
export async function list({ database, caller }: Context) {
  const users = await listUsers(database, caller.companyId);
  return {
    users: users.map(({ id, email, full_name }) => ({
      user: { id, email, image: initialsImage(full_name), full_name },
    })),
  };
}

/** Returns an SVG image with the initials of the first and the last name, as a `data:` address, so that showing it needs no other server. */
export function initialsImage(fullName: string): string {
  const names = fullName.trim().split(/\s+/u);
  const shown = names.length > 1 ? [names[0], names.at(-1)] : names;
  const initials = shown.map((name = "") => firstLetter(name)).join("");
  const text = `<text x="50" y="50" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="42" fill="#fff">${initials}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" fill="#40566b"/>${text}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** The first letter or digit in capitals, or nothing: other characters may mean something in SVG. */
function firstLetter(name: string): string {
  return /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toLocaleUpperCase("en") ?? "";
}
