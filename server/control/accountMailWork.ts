/** Mail to people, if there is a mail server. */
import { resetMinutes } from "../app/company/passwordResets.ts";
import { makeToken, readToken } from "../app/company/token.ts";
import type { Deliver } from "../mail/deliver.ts";
import { deliverAccountMails, type LinkKind } from "../reconcilers/deliverAccountMails.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import type { Config } from "../settings/config.ts";
import type { Database } from "../store/database.ts";

interface AccountMailOptions {
  readonly database: Database;
  readonly config: Pick<Config, "mailFrom" | "apiName" | "siteSuffix">;
  /** Null if there is no mail server. */
  readonly deliver: Deliver | null;
}

export function workOnAccountMail({ database, config, deliver }: AccountMailOptions): Reconciler[] {
  if (deliver === null) return [];
  const from = config.mailFrom ?? `sitewright@${config.apiName ?? config.siteSuffix}`;
  return [
    {
      name: "deliverAccountMails",
      work: "Delivering mail to people",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => deliverAccountMails({ database, deliver, from, makeSecret, resetMinutes }),
    },
  ];
}

/** Makes the secret of a link. */
export function makeSecret(kind: LinkKind) {
  const token = makeToken(kind);
  const { id, secretHash } = readToken(token, kind);
  return { token, id, secretHash };
}
