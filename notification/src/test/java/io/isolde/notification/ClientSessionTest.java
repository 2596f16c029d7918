// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a client does when a node refuses something for now. */
class ClientSessionTest {
  private final List<String> done = new ArrayList<>();

  /** Of these connections it is known at once that they can't be opened. */
  private final Set<Integer> unreachable = new HashSet<>();

  private final ClientSession session = new ClientSession(new Doing());

  private final class Doing implements ClientSession.Output {
    @Override
    public void open(int link, String address) {
      done.add("open %d %s".formatted(link, address));
      if (unreachable.contains(link)) {
        session.closed(link);
      }
    }

    @Override
    public void close(int link) {
      done.add("close " + link);
    }

    @Override
    public void subscribe(int link, int id, int watch, OptionalLong after) {
      done.add("subscribe %d %d %d %d".formatted(link, id, watch, after.orElse(-1)));
    }

    @Override
    public void unsubscribe(int link, int id) {
      done.add("unsubscribe %d %d".formatted(link, id));
    }

    @Override
    public void retryLater(int link, int watch, int refusals) {
      done.add("later %d %d %d".formatted(link, watch, refusals));
    }

    @Override
    public void changed(int watch, List<Long> commits, long position) {
      done.add("changed %d %s".formatted(watch, commits));
    }

    @Override
    public void lost(int watch, long position) {
      done.add("lost " + watch);
    }

    @Override
    public void failed(int watch, String code, String message) {
      done.add("failed " + watch);
    }
  }

  private static ServerMessage notNow(int id) {
    return ServerMessage.error(id, "ORACLE_UNAVAILABLE", "not now", true);
  }

  private void begin(OptionalLong after) {
    session.watch(1, after);
    session.watch(2, OptionalLong.of(5));
    session.opened(1);
    session.received(1, ServerMessage.position(2, 6));
    done.clear();
  }

  private void refuse(int id) {
    session.received(1, notNow(id));
    session.retry(1, 1);
  }

  @Test
  void whenConnectionsFailAtOnceThenTheNextIsOpenedAndNoMoveGoesThere() {
    unreachable.addAll(Set.of(1, 2, 4));
    session.watch(1, OptionalLong.of(4));
    assertThat(done).containsExactly("open 1 null", "open 2 null", "open 3 null");
    session.opened(3);
    session.received(3, ServerMessage.move("b"));
    session.closed(3);
    session.opened(5);
    assertThat(done).endsWith("subscribe 3 1 1 4", "open 4 b", "open 5 null", "subscribe 5 2 1 4");
  }

  @Test
  void whenOneIsRefusedForNowThenOnlyThatOneIsSubscribedAgainLater() {
    begin(OptionalLong.of(4));
    session.received(1, notNow(1));
    assertThat(done).containsExactly("later 1 1 1");
    session.retry(1, 1);
    session.retry(1, 1);
    session.received(1, ServerMessage.changes(3, List.of(7L), 7));
    session.received(1, ServerMessage.changes(2, List.of(7L), 7));
    assertThat(done)
        .containsExactly("later 1 1 1", "subscribe 1 3 1 4", "changed 1 [7]", "changed 2 [7]");
  }

  @Test
  void whenOneIsRefusedAgainAndAgainThenAnotherNodeIsTriedAndThisOneIsKeptMeanwhile() {
    begin(OptionalLong.of(4));
    refuse(1);
    refuse(3);
    refuse(4);
    assertThat(done).contains("later 1 1 3", "open 2 null").doesNotContain("close 1");
    session.opened(2);
    session.received(2, ServerMessage.position(6, 8));
    session.received(2, ServerMessage.position(7, 8));
    assertThat(done).endsWith("close 1");
    assertThat(session.isCurrent(2)).isTrue();
  }

  @Test
  void whenOneThatHasNotBegunIsRefusedAgainAndAgainThenTheNodeIsLeft() {
    begin(OptionalLong.empty());
    refuse(1);
    refuse(3);
    refuse(4);
    assertThat(done).endsWith("close 1", "open 2 null");
  }

  @Test
  void whenAnErrorIsAboutNothingThatIsSubscribedThenNothingHappens() {
    begin(OptionalLong.of(4));
    session.unwatch(1);
    done.clear();
    session.received(1, notNow(1));
    session.received(1, ServerMessage.error(null, "INVALID_REQUEST", "no JSON", false));
    assertThat(done).isEmpty();
  }

  @Test
  void whenItIsResumedDuringThePauseThenItIsSubscribedOnce() {
    begin(OptionalLong.of(4));
    session.received(1, notNow(1));
    session.pause(1);
    session.resume(1);
    session.retry(1, 1);
    assertThat(done).containsExactly("later 1 1 1", "subscribe 1 3 1 4");
  }
}
