// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.routing.WriteNames.Name;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteNamesTest {
  private long nowMicros = 1_000;
  private final WriteNames names = new WriteNames(7, () -> nowMicros);

  @Test
  void whenTheClockStandsOrGoesBackThenNumbersIncreaseAllTheSame() {
    assertThat(next()).isEqualTo(new Name(7, 1_000, 1_000));
    assertThat(next()).isEqualTo(new Name(7, 1_001, 1_000));
    nowMicros = 500;
    assertThat(next()).isEqualTo(new Name(7, 1_002, 1_000));
    nowMicros = 2_000;
    assertThat(next()).isEqualTo(new Name(7, 2_000, 1_000));
  }

  @Test
  void whenAWriteIsDoneThenTheOldestThatMayBeSentAgainIsTheNextOne() {
    Name first = next();
    Name second = next();
    names.done(second);
    assertThat(next().oldestOpen()).isEqualTo(first.number());
    names.done(first);
    assertThat(next().oldestOpen()).isEqualTo(second.number() + 1);
  }

  @Test
  void whenTooManyAreInUseThenThereIsNoFurtherOneUntilOneIsDone() {
    List<Name> all = new ArrayList<>();
    for (int i = 0; i < WriteNames.MAX_OPEN; i++) {
      all.add(next());
    }
    assertThat(names.next()).isEmpty();
    names.done(all.get(5));
    assertThat(names.next()).isPresent();
  }

  @Test
  void whenItIsWrittenThenItHasThreeNumbers() {
    ByteBuffer bytes = new Name(7, 1_002, 1_000).bytes();
    assertThat(bytes.remaining()).isEqualTo(24);
    assertThat(bytes.getLong(0)).isEqualTo(7);
    assertThat(bytes.getLong(8)).isEqualTo(1_002);
    assertThat(bytes.getLong(16)).isEqualTo(1_000);
  }

  private Name next() {
    return names.next().orElseThrow();
  }
}
