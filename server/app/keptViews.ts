/**
 * What the API shows of a record, kept as long as the record is. Records that are read again and are unchanged are the same
 * objects, so their views, and the responses made of these, need not be made again either.
 */

const keptViews = new WeakSet<object>();

/** Returns a function that makes the view of a record once. The view must depend on nothing else that changes. */
export function makeKeptView<Given, Kept extends object, View extends object>(
  make: (record: Kept, given: Given) => View,
): (record: Kept, given: Given) => View {
  const views = new WeakMap<Kept, View>();
  return (record, given) => {
    const before = views.get(record);
    if (before !== undefined) return before;
    const view = make(record, given);
    views.set(record, view);
    keptViews.add(view);
    return view;
  };
}

/** Whether the value comes from such a function. */
export function isKeptView(value: unknown): value is object {
  return typeof value === "object" && value !== null && keptViews.has(value);
}
