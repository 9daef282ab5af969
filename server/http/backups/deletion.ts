/** Whether to delete without a backup: from the body, or from the query for clients that can't send a body. */
interface Wish {
  readonly query: { readonly without_backup?: boolean };
  readonly body: { readonly without_backup?: boolean };
}

export function isWithoutBackup({ query, body }: Wish): boolean {
  return query.without_backup === true || body.without_backup === true;
}
