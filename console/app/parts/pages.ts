/** The pages of the navigation. */
import { may, type Permission, type SignedIn } from "../api/session.ts";
import { texts } from "../texts.ts";

/** `needs`: the permission without which there is nothing to see, or to be an operator of the installation. */
const pages = [
  { to: "/", label: texts.navigation.home, needs: null },
  { to: "/sites", label: texts.navigation.sites, needs: null },
  { to: "/fleet", label: texts.navigation.fleet, needs: null },
  { to: "/dns", label: texts.navigation.dns, needs: null },
  { to: "/usage", label: texts.usage.title, needs: null },
  { to: "/people", label: texts.navigation.people, needs: "see_users" },
  { to: "/activity", label: texts.navigation.activity, needs: null },
  { to: "/api-keys", label: texts.navigation.apiKeys, needs: "see_keys" },
  { to: "/installation", label: texts.navigation.installation, needs: "operator" },
  { to: "/account", label: texts.navigation.account, needs: null },
] as const;

const isShown = (session: SignedIn | null, needs: Permission | "operator" | null): boolean =>
  needs === null || (needs === "operator" ? session?.is_operator === true : may(session, needs));

/** Those that there is something to see on for this person. */
export const pagesFor = (session: SignedIn | null) => pages.filter(({ needs }) => isShown(session, needs));
