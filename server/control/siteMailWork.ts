/** Mail that sites send. */
import { deliverMails } from "../reconcilers/deliverMails.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { makeTakeMails } from "../reconcilers/takeMails.ts";
import { deleteOldMails } from "../store/traffic/mails.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { minute } from "./periods.ts";

/** Parallel deliveries of all environments: mail servers limit connections. */
const parallelDeliveries = 3;
const mailboxLimits = { messages: 1_000, bytes: 500e6 };

export function workOnSiteMail({ database, config, spool, deliver, onBrokenMail }: PeriodicWorkOptions): Reconciler[] {
  const take = makeTakeMails({ database, spool, hasServer: deliver !== null, onBroken: onBrokenMail });
  const limits = { days: config.mailDays, ...mailboxLimits };
  const queue = deliver && { database, deliver, from: config.mailFrom, recipientsPerHour: config.mailPerHour };
  const delivering = Array.from({ length: queue ? parallelDeliveries : 0 }, (_, at) => `deliverMails ${at + 1}`);
  return [
    { name: "takeMails", work: "Collecting mail from sites", everySeconds: 1, retrySeconds: 2, run: take },
    {
      name: "deleteOldMails",
      work: "Removing old mail",
      everySeconds: minute,
      retrySeconds: minute,
      run: () => deleteOldMails(database, limits),
    },
    ...delivering.map((name) => ({
      name,
      work: "Delivering mail",
      everySeconds: 1,
      retrySeconds: 5,
      run: async () => {
        if (queue) await deliverMails(queue);
      },
    })),
  ];
}
