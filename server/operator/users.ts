/** `users`: for people who have lost their password or their second factor, and for operators of the installation. */
import { randomBytes } from "node:crypto";
import { hashPassword } from "../app/company/passwords.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { deleteSecondFactor } from "../store/company/secondFactors.ts";
import { endSessions, findSignInUser, resetPassword, type SignInUser } from "../store/company/sessions.ts";
import { setOperator } from "../store/company/users.ts";
import type { Database } from "../store/database.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";

/** Throws `Failure` if nobody has the address. */
async function userOf(database: Database, email: string): Promise<SignInUser> {
  const user = await findSignInUser(database, { email });
  if (user !== null) return user;
  throw new Failure(`No user has the e-mail address ${email}. GET /v2/company/{id}/users lists them.`, exitFailed);
}

export const resetUserPassword: Run = ({ words: [email = ""], flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const user = await userOf(database, email);
    const password = randomBytes(18).toString("base64url");
    const hash = await hashPassword(password);
    await database.transaction().execute(async (transaction) => {
      await resetPassword(transaction, user.id, hash, { mustChange: true });
      await endSessions(transaction, user.id, "all");
      const parameters = { companyId: user.company_id, email: user.email };
      await recordOperatorAction(transaction, { type: "resetPassword", parameters, actor: operatorActor() });
    });
    if (flags.json === true) return JSON.stringify({ email: user.email, password });
    return [
      `${user.email} can sign in with this password, and then has to choose another one. It is shown only once.`,
      `  ${password}`,
    ].join("\n");
  });

export const resetUserSecondFactor: Run = ({ words: [email = ""], flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const user = await userOf(database, email);
    const isRemoved = await database.transaction().execute(async (transaction) => {
      if (!(await deleteSecondFactor(transaction, user.id))) return false;
      await endSessions(transaction, user.id, "all");
      const parameters = { companyId: user.company_id, email: user.email };
      await recordOperatorAction(transaction, { type: "resetSecondFactor", parameters, actor: operatorActor() });
      return true;
    });
    if (flags.json === true) return JSON.stringify({ email: user.email, was_removed: isRemoved });
    if (!isRemoved) return `${user.email} has no second factor.`;
    return `${user.email} can sign in with the password alone, and has been signed out everywhere.`;
  });

/** `isOperator`: whether the user is to be one. */
const changeOperator =
  (isOperator: boolean): Run =>
  ({ words: [email = ""], flags }, { config }) =>
    withRunningDatabase(config, async (database) => {
      const user = await userOf(database, email);
      const isChanged = await database.transaction().execute(async (transaction) => {
        if (!(await setOperator(transaction, user.id, isOperator))) return false;
        const parameters = { companyId: user.company_id, email: user.email };
        const type = isOperator ? "makeOperator" : "removeOperator";
        await recordOperatorAction(transaction, { type, parameters, actor: operatorActor() });
        return true;
      });
      if (flags.json === true)
        return JSON.stringify({ email: user.email, is_operator: isOperator, was_changed: isChanged });
      if (isOperator) return `${user.email} can see the state of the installation in the console, under Installation.`;
      return `${user.email} can't see the state of the installation.`;
    });

export const makeOperator: Run = changeOperator(true);
export const removeOperator: Run = changeOperator(false);
