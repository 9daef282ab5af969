/** Removes expired rows: idempotency keys, old operations, rollouts, API keys, invitations, mailed links, challenges of passkeys, attempts to sign in, labels of sites that are gone, offers of packages, marks of changes, and events. */
import { deleteExpiredLinks } from "../store/company/accountMails.ts";
import { deleteEndedApiKeys } from "../store/company/apiKeys.ts";
import { removeOldEvents } from "../store/company/events.ts";
import { deleteExpiredInvitations } from "../store/company/invitations.ts";
import { deleteExpiredChallenges } from "../store/company/passkeys.ts";
import { deleteOldAttempts } from "../store/company/signInFailures.ts";
import type { Database } from "../store/database.ts";
import { deleteExpiredIdempotencyKeys } from "../store/expiry.ts";
import { mergeListChanges } from "../store/listVersions.ts";
import { deleteOperations, listEndedOperations } from "../store/operations.ts";
import { removeUnusedOffers } from "../store/packages/packageOffers.ts";
import { deleteEndedRollouts } from "../store/packages/rollouts.ts";
import { deleteLabelsOfGoneSites } from "../store/sites/labels.ts";

/** The API promises that an ended operation can be read for at least seven days. */
const operationRetentionDays = 30;
/** As long as entries of the activity log that name the key are kept by default. */
const apiKeyRetentionDays = 400;
/** Until then, an invitation is shown as expired. */
const invitationRetentionDays = 30;
/** Reading this many marks takes a fraction of a millisecond. */
const maxListChanges = 100;
const batch = 500;

/** The contract promises it. */
const eventRetentionHours = 24;

export async function expire(database: Database): Promise<void> {
  await deleteExpiredIdempotencyKeys(database);
  await deleteEndedApiKeys(database, apiKeyRetentionDays);
  await deleteOldAttempts(database);
  await deleteExpiredInvitations(database, invitationRetentionDays);
  await deleteLabelsOfGoneSites(database);
  await deleteExpiredLinks(database);
  await deleteExpiredChallenges(database);
  await removeOldEvents(database, eventRetentionHours);
  await mergeListChanges(database, maxListChanges);
  await removeUnusedOffers(database);
  await deleteEndedRollouts(database, operationRetentionDays);
  for (;;) {
    const ids = await listEndedOperations(database, operationRetentionDays, batch);
    if (ids.length === 0) return;
    await deleteOperations(database, ids);
  }
}
