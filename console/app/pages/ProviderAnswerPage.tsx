import { Anchor, Loader, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { loadedQuery, nextAddress, readAnswer, type Step } from "../api/providers.ts";
import { type SignedIn, sessionKey, useSignedIn } from "../api/session.ts";
import { Failure } from "../parts/Failure.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { texts } from "../texts.ts";
import { AcceptForm } from "./provider/AcceptForm.tsx";
import { LinkForm } from "./provider/LinkForm.tsx";
import { ProofForm } from "./provider/ProofForm.tsx";

const at = texts.provider;

/** Where the provider sends the browser back to. */
export function ProviderAnswerPage() {
  const isSignedIn = useSignedIn() !== null;
  const { data, error, refetch } = useQuery({
    queryKey: ["provider-answer"],
    queryFn: () => readAnswer(loadedQuery),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isLink = data === undefined ? isSignedIn : data.step === null;
  return (
    <Narrow title={isLink ? at.linkTitle : at.answerTitle}>
      {data === undefined && error === null && <Loader size="sm" role="status" aria-label={at.checking} />}
      <Failure error={error} retry={() => void refetch()} />
      {data !== undefined && isLink && <LinkForm email={data.email} />}
      {data !== undefined && data.step !== null && <SignIn email={data.email} first={data.step} />}
      <Anchor component={Link} to={isLink ? "/account" : "/sign-in"} size="sm">
        {isLink ? at.toAccount : at.again}
      </Anchor>
    </Narrow>
  );
}

interface SignInProps {
  readonly email: string;
  readonly first: Step;
}

/** The steps that are still needed after the provider's answer, one after another. */
function SignIn({ email, first }: SignInProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [step, setStep] = useState(first);
  const finish = useCallback(
    (signedIn: SignedIn) => {
      client.setQueryData(sessionKey, signedIn);
      void navigate({ to: nextAddress(), replace: true });
    },
    [client, navigate],
  );
  useEffect(() => {
    if (step.kind === "done") finish(step.signedIn);
  }, [step, finish]);
  if (step.kind === "done") return null;
  return (
    <Stack>
      {step.kind === "factor" && <Text size="sm">{at.account(email)}</Text>}
      {step.kind === "invitation" ? (
        <AcceptForm email={email} message={step.message} invitations={step.invitations} done={setStep} />
      ) : (
        <ProofForm email={email} first={step} done={setStep} />
      )}
    </Stack>
  );
}
