/** `users reset-password`: a new password for a person who has lost theirs. */
import { randomBytes } from "node:crypto";
import { hashPassword } from "../app/company/passwords.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { endSessions, findSignInUser, resetPassword } from "../store/company/sessions.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";

export const resetUserPassword: Run = ({ words: [email = ""], flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const user = await findSignInUser(database, { email });
    if (user === null) {
      throw new Failure(`No user has the e-mail address ${email}. GET /v2/company/{id}/users lists them.`, exitFailed);
    }
    const password = randomBytes(18).toString("base64url");
    const hash = await hashPassword(password);
    await database.transaction().execute(async (transaction) => {
      await resetPassword(transaction, user.id, hash);
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
