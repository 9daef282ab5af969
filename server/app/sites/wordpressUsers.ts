/** The administrators of an environment's WordPress: who is one, a new one, and a way in for one. */
import { createHash, randomBytes } from "node:crypto";
import { RuntimeFailure, type WordPressUser } from "@sitewright/runtimes/runtime.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { lockHolder } from "@sitewright/server/store/locks.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { readTaskAnswer, type TaskAnswer } from "./taskAnswer.ts";

/** How long a login link is good. */
const linkSeconds = 60;
/** WordPress with many plugins, on a machine that has other things to do. */
const createSeconds = 45;

export async function hasAdministrator(context: Context, environmentId: string, email: string): Promise<boolean> {
  const user = await findUser(context, await find(context, environmentId), email);
  return user?.isAdministrator ?? false;
}

export interface UserWish {
  readonly email: string;
  readonly first_name?: string;
  readonly last_name?: string;
}

/** Resolves when WordPress has made the user. */
export async function createAdministrator(context: Context, environmentId: string, wish: UserWish): Promise<void> {
  const environment = await find(context, environmentId);
  if ((await lockHolder(context.database, environment.id)) !== null) throw busy();
  refuseExisting(await findUser(context, environment, wish.email), wish.email);
  const input = { email: wish.email, firstName: wish.first_name ?? "", lastName: wish.last_name ?? "" };
  const result = await context.siteTasks.run({
    environmentId: environment.id,
    host: hostIn(context, environment),
    work: { task: "createUser", input },
    deadlineSeconds: createSeconds,
  });
  requireCreated(readTaskAnswer(result), wish.email);
  await record(context, environment, "createWpAdminUser", wish.email);
}

/** Returns the link. */
export async function createLoginLink(context: Context, environmentId: string, email: string): Promise<string> {
  const environment = await find(context, environmentId);
  const user = requireAdministrator(await findUser(context, environment, email), email);
  const token = randomBytes(32).toString("base64url");
  const isOffered = await context.siteTasks.offerLogin({
    hash: createHash("sha256").update(token).digest("hex"),
    environmentId: environment.id,
    userId: user.id,
    login: user.login,
    seconds: linkSeconds,
  });
  if (!isOffered)
    throw new Refused("site_unavailable", "The site is not being served at the moment. Try again in a moment.");
  await record(context, environment, "createWpLoginLink", email);
  return `${addressOf(context.settings, environment)}/sitewright-login?token=${token}`;
}

async function find(context: Context, environmentId: string): Promise<EnvironmentFacts> {
  const environment = await environmentForOperation(context.database, environmentId);
  if (!environment) throw new NotFound();
  if (environment.awaits_rebuild) {
    throw new Refused("environment_away", "The environment is still being restored. Try again when it is there.");
  }
  return environment;
}

async function findUser(
  context: Context,
  { id, number }: EnvironmentFacts,
  email: string,
): Promise<WordPressUser | null> {
  const found = await context.findUser({ id, number }, email).catch((error: unknown) => {
    if (error instanceof RuntimeFailure) throw new Refused("wordpress_unreadable", error.message);
    throw error;
  });
  if (found === null)
    throw new Refused("no_wordpress", "There is no WordPress in this environment, so it has no users.");
  return found.user;
}

function hostIn({ settings }: Context, environment: EnvironmentFacts): string {
  return new URL(addressOf(settings, environment)).host;
}

function refuseExisting(user: WordPressUser | null, email: string): void {
  if (user === null) return;
  const advice = user.isAdministrator
    ? "is an administrator already; POST …/wpa-login-url makes a link to log in"
    : "has another role; make them an administrator in WordPress, under Users, or take another address";
  throw new Refused("wordpress_user_exists", `The user with the e-mail address ${email} ${advice}.`, {
    is_administrator: user.isAdministrator,
  });
}

function requireAdministrator(user: WordPressUser | null, email: string): WordPressUser {
  if (user === null) {
    const advice = "Make one with POST …/wpa-create-user.";
    throw new Refused("wordpress_user_missing", `Nobody in this WordPress has the e-mail address ${email}. ${advice}`);
  }
  if (user.isAdministrator) return user;
  const advice = "Make them one in WordPress, under Users, or take an administrator's address.";
  throw new Refused(
    "wordpress_user_no_administrator",
    `The user with the e-mail address ${email} is no administrator. ${advice}`,
  );
}

function busy(): Refused {
  return new Refused("environment_busy", "The environment is being worked on. Try again in a moment.");
}

function requireCreated(answer: TaskAnswer, email: string): void {
  if (answer.kind === "busy") throw busy();
  if (answer.kind === "unknown") {
    const advice = "GET …/wpa-user-exists tells whether the user was made.";
    throw new Refused("wordpress_unfinished", `WordPress was not done in time. ${advice}`);
  }
  if (answer.kind === "failed") throw new Refused("wordpress_failed", answer.sentence, { log: answer.log });
  const { created, refused, failed } = answer.value;
  if (typeof created === "number") return;
  // Somebody else was quicker.
  if (refused === "exists") {
    throw new Refused("wordpress_user_exists", `There is a user with the e-mail address ${email} already.`, {});
  }
  const reason = typeof failed === "string" ? failed : "It gave no reason.";
  throw new Refused("wordpress_failed", `WordPress did not make the user: ${reason}`, { log: "" });
}

function record(
  context: Context,
  environment: EnvironmentFacts,
  type: "createWpAdminUser" | "createWpLoginLink",
  email: string,
): Promise<void> {
  const parameters = { environmentName: environment.display_name, siteName: environment.site_display_name, email };
  return context.inTransaction((transaction: DatabaseTransaction) =>
    recordDone(context, transaction, { type, category: "siteActions", siteId: environment.site_id, parameters }),
  );
}
