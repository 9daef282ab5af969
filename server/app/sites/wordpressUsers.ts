/** Administrators of an environment's WordPress: checks for them, creates them, and makes login links. */
import { createHash, randomBytes } from "node:crypto";
import { RuntimeFailure, type WordPressUser } from "@sitewright/runtimes/runtime.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { findCheckedDomain } from "@sitewright/server/store/domains/domainChecks.ts";
import { domainsOfEnvironment } from "@sitewright/server/store/domains/domains.ts";
import { lockHolder } from "@sitewright/server/store/locks.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { pointedHere } from "../domains/domains.ts";
import { afterChange, NotFound, Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { readTaskAnswer, type TaskAnswer } from "./taskAnswer.ts";

/** How long a login link is valid. */
const linkSeconds = 60;
/** Enough for WordPress with many plugins on a busy machine. */
const createSeconds = 45;

export async function hasAdministrator(context: Context, environmentId: string, email: string): Promise<boolean> {
  const user = await findUser(context, await find(context, environmentId), email);
  return user?.isAdministrator ?? false;
}

interface NewUser {
  readonly email: string;
  readonly first_name?: string;
  readonly last_name?: string;
}

/** Resolves when WordPress has created the user. */
export async function createAdministrator(context: Context, environmentId: string, newUser: NewUser): Promise<void> {
  const environment = await find(context, environmentId);
  if ((await lockHolder(context.database, environment.id)) !== null) throw busy();
  refuseExisting(await findUser(context, environment, newUser.email), newUser.email);
  const input = { email: newUser.email, firstName: newUser.first_name ?? "", lastName: newUser.last_name ?? "" };
  const result = await context.siteTasks.run({
    companyId: environment.company_id,
    environmentId: environment.id,
    host: hostIn(context, environment),
    work: { task: "createUser", input },
    deadlineSeconds: createSeconds,
  });
  requireCreated(readTaskAnswer(result), newUser.email);
  try {
    await record(context, environment, "createWpAdminUser", newUser.email);
  } catch (error) {
    throw afterChange(error);
  }
}

/** Makes a login link and returns it. */
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
  if (!isOffered) throw new Refused("site_unavailable", "The site is not being served at the moment. Try again later.");
  await record(context, environment, "createWpLoginLink", email);
  return `${await workingAddress(context, environment)}/sitewright-login?token=${token}`;
}

/** The primary address, or the temporary one if the primary domain did not point here at its last check. */
async function workingAddress(context: Context, environment: EnvironmentFacts): Promise<string> {
  const { database, settings } = context;
  const domains = await domainsOfEnvironment(database, environment.id);
  const primary = domains.find(({ isPrimary }) => isPrimary);
  const temporary = domains.find(({ isTemporary }) => isTemporary);
  const checked = primary === undefined ? null : await findCheckedDomain(database, primary.id);
  if (temporary === undefined || checked === null || pointedHere(context, checked)) {
    return addressOf(settings, environment);
  }
  return addressOf(settings, { host: temporary.name, is_https: temporary.isHttps });
}

async function find(context: Context, environmentId: string): Promise<EnvironmentFacts> {
  const environment = await environmentForOperation(context.database, environmentId);
  if (!environment) throw new NotFound();
  if (environment.awaits_rebuild) {
    throw new Refused("environment_away", "The environment is still being restored. Try again when that is done.");
  }
  return environment;
}

async function findUser(
  context: Context,
  { id, number }: EnvironmentFacts,
  email: string,
): Promise<WordPressUser | null> {
  const found = await context
    .readInTurn(() => context.findUser({ id, number, companyId: context.caller.companyId }, email))
    .catch((error: unknown) => {
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
  const rest = user.isAdministrator
    ? "is already an administrator. POST …/wpa-login-url makes a login link."
    : "has another role. Make them an administrator in WordPress, under Users, or use another address.";
  throw new Refused("wordpress_user_exists", `The user with the e-mail address ${email} ${rest}`, {
    is_administrator: user.isAdministrator,
  });
}

function requireAdministrator(user: WordPressUser | null, email: string): WordPressUser {
  if (user === null) {
    const advice = "Create one with POST …/wpa-create-user.";
    const message = `No user of this WordPress has the e-mail address ${email}. ${advice}`;
    throw new Refused("wordpress_user_missing", message);
  }
  if (user.isAdministrator) return user;
  const advice = "Make them one in WordPress, under Users, or use an administrator's address.";
  throw new Refused(
    "wordpress_user_no_administrator",
    `The user with the e-mail address ${email} is not an administrator. ${advice}`,
  );
}

function busy(): Refused {
  return new Refused("environment_busy", "The environment is busy. Try again in a moment.");
}

function requireCreated(answer: TaskAnswer, email: string): void {
  if (answer.kind === "busy") throw busy();
  if (answer.kind === "unknown") {
    const advice = "GET …/wpa-user-exists shows whether the user was created.";
    throw new Refused("wordpress_unfinished", `WordPress timed out. ${advice}`);
  }
  if (answer.kind === "failed") throw new Refused("wordpress_failed", answer.message, { log: answer.log });
  const { created, refused, failed } = answer.value;
  if (typeof created === "number") return;
  // Another request has created the user in the meantime.
  if (refused === "exists") {
    throw new Refused("wordpress_user_exists", `There is already a user with the e-mail address ${email}.`, {});
  }
  const reason = typeof failed === "string" ? failed : "It gave no reason.";
  throw new Refused("wordpress_failed", `WordPress did not create the user: ${reason}`, { log: "" });
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
