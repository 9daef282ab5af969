import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { sessionKey, useSignedIn } from "../api/session.ts";
import { FactorChoice } from "../parts/FactorChoice.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { RecoveryCodes } from "../parts/RecoveryCodes.tsx";
import { texts } from "../texts.ts";

/** The first page of somebody whose company requires a second factor that they don't have. */
export function SecondFactorPage({ next }: { readonly next: string }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const session = useSignedIn();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const proceed = async () => {
    await client.refetchQueries({ queryKey: sessionKey });
    void navigate({ to: next });
  };
  return (
    <Narrow title={texts.secondFactor.title}>
      {codes === null ? (
        <>
          <Text size="sm">{texts.secondFactor.required(session?.company.name ?? "")}</Text>
          <FactorChoice email={session?.user.email ?? ""} hasApp={false} done={setCodes} />
        </>
      ) : (
        <RecoveryCodes codes={codes} done={() => void proceed()} />
      )}
    </Narrow>
  );
}
