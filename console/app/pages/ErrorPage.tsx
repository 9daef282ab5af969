import { Failure } from "../parts/Failure.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { texts } from "../texts.ts";

/** When a page can't be drawn at all. */
export function ErrorPage({ error }: { readonly error: unknown }) {
  return (
    <Narrow title={texts.unexpected}>
      <Failure
        error={error instanceof Error ? error : new Error(String(error))}
        retry={() => window.location.reload()}
      />
    </Narrow>
  );
}
