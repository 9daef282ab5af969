import { Malformed } from "../reading/malformed.ts";

interface DeletionInput {
  readonly query: { readonly without_backup?: boolean };
  readonly body: { readonly without_backup?: boolean };
}

/** Whether to delete without a backup. Throws `Malformed` if query and body contradict each other. */
export function isWithoutBackup({ query, body }: DeletionInput): boolean {
  const [wanted = false, also = wanted] = [query.without_backup, body.without_backup].filter(
    (one) => one !== undefined,
  );
  if (wanted === also) return wanted;
  throw new Malformed([{ path: "/without_backup", message: "must be the same in the query and in the body" }]);
}
