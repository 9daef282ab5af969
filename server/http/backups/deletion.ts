/** Whether something is to be deleted for good: said in the body, or in the query by whoever can't send one. */
interface Wish {
  readonly query: { readonly without_backup?: boolean };
  readonly body: { readonly without_backup?: boolean };
}

export function isWithoutBackup({ query, body }: Wish): boolean {
  return query.without_backup === true || body.without_backup === true;
}
