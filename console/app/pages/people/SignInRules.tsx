import { Group, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { type Person, peopleKey } from "../../api/people.ts";
import { signInRulesQuery } from "../../api/secondFactor.ts";
import { may, sessionKey, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.people;

interface SignInRulesProps {
  readonly company: string;
  readonly people: readonly Person[];
}

/** Whether everybody needs a second factor. */
export function SignInRules({ company, people }: SignInRulesProps) {
  const rules = useQuery(signInRulesQuery(company));
  const without = people.filter(({ has_second_factor: has }) => !has).length;
  return (
    <Stack component="section" aria-label={at.signingIn} gap="sm">
      <Title order={2} size="h4">
        {at.signingIn}
      </Title>
      <Loaded query={rules}>
        {({ requires_second_factor: isRequired }) => (
          <Rule company={company} isRequired={isRequired} without={without} />
        )}
      </Loaded>
    </Stack>
  );
}

interface RuleProps {
  readonly company: string;
  readonly isRequired: boolean;
  /** Number of people without a second factor. */
  readonly without: number;
}

function Rule({ company, isRequired, without }: RuleProps) {
  const client = useQueryClient();
  const mayChange = may(useSignedIn(), "manage_sign_in");
  const body = { requires_second_factor: !isRequired };
  const change = useMutation({
    mutationFn: () => answerOf(api.PUT("/company/{id}/sign-in-rules", { params: { path: { id: company } }, body })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: peopleKey });
      void client.invalidateQueries({ queryKey: sessionKey });
    },
  });
  return (
    <>
      <Text>{isRequired ? at.factorRequired(without) : at.factorOptional(without)}</Text>
      <Failure error={change.error} />
      <Group>
        <ActionButton
          variant="default"
          loading={change.isPending}
          reason={mayChange ? null : at.needsOwner}
          onClick={() => change.mutate()}
        >
          {isRequired ? at.stopRequiring : at.requireFactor}
        </ActionButton>
        <CurlButton method="PUT" path={`/company/${company}/sign-in-rules`} body={body} />
      </Group>
    </>
  );
}
