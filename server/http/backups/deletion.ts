/** Whether to delete without a backup. Clients that can't send a body send the option in the query. */
interface DeletionInput {
  readonly query: { readonly without_backup?: boolean };
  readonly body: { readonly without_backup?: boolean };
}

export function isWithoutBackup({ query, body }: DeletionInput): boolean {
  return query.without_backup === true || body.without_backup === true;
}
