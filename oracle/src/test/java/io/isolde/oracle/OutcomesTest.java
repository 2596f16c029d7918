// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class OutcomesTest {
  private static final Conflict CONFLICT = new Conflict(Conflict.Kind.READ_WRITE, 1, 2, null);

  @Property(tries = 300)
  void whateverIsDecidedThenTheLastOnesAreKnown(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int maxOutcomes) {
    Random random = new Random(seed);
    Outcomes outcomes = new Outcomes(OracleConfig.defaults().withMaxOutcomes(maxOutcomes), 0);
    Map<UUID, Decision> model = new LinkedHashMap<>();
    long last = 0;
    for (int i = 1; i < 200; i++) {
      UUID id = new UUID(random.nextInt(2), (long) i << (random.nextBoolean() ? 40 : 0));
      if (model.containsKey(id)) {
        continue;
      }
      if (random.nextInt(3) == 0) {
        outcomes.recordAbort(id, CONFLICT, last, 1, 0);
        model.put(id, new Decision.Aborted(CONFLICT));
      } else {
        last += 2;
        Decision.Committed committed = new Decision.Committed(last, random.nextInt(2));
        outcomes.recordCommit(id, committed, 1, 0);
        model.put(id, committed);
        assertThat(outcomes.committer(last)).isEqualTo(id);
      }
      if (model.size() > maxOutcomes) {
        UUID oldest = model.keySet().iterator().next();
        model.remove(oldest);
        assertThat(outcomes.get(oldest)).isNull();
      }
      assertThat(outcomes.size()).isEqualTo(model.size());
    }
    model.forEach((id, decision) -> assertThat(outcomes.get(id)).isEqualTo(decision));
    List<Decision> kept = List.copyOf(model.values());
    Outcomes fewer = outcomes.within(OracleConfig.defaults().withMaxOutcomes(1));
    assertThat(fewer.size()).isEqualTo(1);
    assertThat(fewer.get(List.copyOf(model.keySet()).get(kept.size() - 1)))
        .isEqualTo(kept.get(kept.size() - 1));
  }

  @Test
  void whenHashesAreEqualThenIdsAreToldApart() {
    OutcomeIndex index = new OutcomeIndex(3);
    index.add(7, 0);
    index.add(7, 1);
    index.add(7, 2);
    index.remove(7, 1);
    int first = index.first(7);
    int second = index.next(7, first);
    assertThat(List.of(index.positionAt(first), index.positionAt(second))).containsExactly(0, 2);
    assertThat(index.next(7, second)).isEqualTo(OutcomeIndex.NONE);
  }
}
