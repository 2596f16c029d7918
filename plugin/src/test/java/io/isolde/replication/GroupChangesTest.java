// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.conflict.RowIds;
import io.isolde.oracle.group.Changes;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.schema.TableId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GroupChangesTest {
  private static final int MAX_WRITES = 100;

  /** A second of the log: what is much newer than what others have stays. */
  private static final long SECOND = 1_000_000;

  private static final TableId TABLE = TableId.fromUUID(new UUID(1, 2));
  private static final Payload.Content WRITE = new Payload.Truncation(TABLE, 0);
  private static final Set<Long> WATCHED = Set.of(RowIds.table(TABLE));

  private final UUID busy = new UUID(0, 1);
  private final UUID quiet = new UUID(0, 2);
  private GroupChanges changes = new GroupChanges(MAX_WRITES, Long.MAX_VALUE);

  @AfterEach
  void close() {
    changes.close();
  }

  private GroupChanges.Replica begun(UUID group) {
    GroupChanges.Replica replica = changes.replica(group);
    replica.begin(0);
    return replica;
  }

  private CompletableFuture<Changes.Notification> ask(UUID group, long after, long waitMillis) {
    return changes.of(group).orElseThrow().after(OptionalLong.of(after), WATCHED, waitMillis);
  }

  private static void write(GroupChanges.Replica replica, int from, int to) {
    for (int i = from; i <= to; i++) {
      replica.applied(i * SECOND, WRITE);
    }
  }

  @Test
  void whenAllGroupsTogetherHaveTooManyWritesThenTheOldestGoAndThatIsALoss() throws Exception {
    GroupChanges.Replica first = begun(busy);
    GroupChanges.Replica second = begun(quiet);
    write(second, 1, 3);
    CompletableFuture<Changes.Notification> waiting = ask(quiet, 3 * SECOND, 60_000);
    write(first, 4, MAX_WRITES);
    assertThat(ask(quiet, 0, 0).get().commits()).as("all have room").hasSize(3);
    write(first, MAX_WRITES + 1, 2 * MAX_WRITES);
    assertThat(changes.sum(Changes::bytes)).isPositive();
    assertThat(ask(quiet, 2 * SECOND, 0).get().isLost()).as("was away for too long").isTrue();
    assertThat(ask(quiet, 3 * SECOND, 0).get().isLost()).as("has missed nothing").isFalse();
    assertThat(ask(busy, 4 * SECOND, 0).get().isLost()).isTrue();
    assertThat(ask(busy, MAX_WRITES * SECOND, 0).get().commits()).hasSize(MAX_WRITES);
    write(second, 2 * MAX_WRITES + 1, 2 * MAX_WRITES + 1);
    assertThat(waiting.get(30, TimeUnit.SECONDS).commits())
        .containsExactly((2 * MAX_WRITES + 1) * SECOND);
  }

  @Test
  void whenAQuietGroupHasJustBeenWrittenThenOnlyItsOldWritesGo() throws Exception {
    GroupChanges.Replica first = begun(busy);
    GroupChanges.Replica second = begun(quiet);
    write(second, 1, 3);
    write(first, 10, 10 + MAX_WRITES - 4);
    int now = 10 + MAX_WRITES;
    write(second, now, now);
    assertThat(ask(quiet, now * SECOND - 1, 0).get())
        .isEqualTo(new Changes.Notification(List.of(now * SECOND), now * SECOND, false));
    assertThat(ask(quiet, 0, 0).get().isLost()).isTrue();
  }

  @Test
  void whenTheyTakeTooManyBytesOrAGroupGoesThenTheSumSaysSo() {
    changes.close();
    changes = new GroupChanges(Integer.MAX_VALUE, 1_000);
    GroupChanges.Replica first = begun(busy);
    GroupChanges.Replica second = begun(quiet);
    for (int i = 1; i <= MAX_WRITES; i++) {
      write(first, i, i);
      write(second, i, i);
      assertThat(changes.sum(Changes::bytes)).isLessThanOrEqualTo(1_000);
    }
    long both = changes.sum(Changes::bytes);
    changes.forget(busy);
    assertThat(changes.sum(Changes::bytes)).isPositive().isLessThan(both);
    write(second, MAX_WRITES + 1, 2 * MAX_WRITES);
    assertThat(changes.sum(Changes::bytes)).as("has all the room").isGreaterThan(both / 2 + 100);
  }
}
