// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.Isolde;
import io.isolde.cluster.LocalNode;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** As an application uses it. */
@IsoldeTest
class IsoldeTestTest {
  /** The class below notes here what it was given; whichever comes second compares. */
  static final AtomicReference<Long> PID_OF_SHARED = new AtomicReference<>();

  static final AtomicReference<CqlIdentifier> OTHER_KEYSPACE = new AtomicReference<>();

  @BeforeAll
  static void createTables(CqlSession session) {
    session.execute("CREATE TABLE accounts (id int PRIMARY KEY, balance int)");
    session.execute("ENABLE TRANSACTIONS ON accounts");
  }

  @Test
  void whenATransactionCommitsThenTheSessionSeesIt(Isolde isolde, CqlSession session) {
    isolde.runVoid(tx -> tx.execute("INSERT INTO accounts (id, balance) VALUES (1, 100)"));

    assertThat(session.execute("SELECT balance FROM accounts WHERE id = 1").one().getInt(0))
        .isEqualTo(100);
  }

  @Test
  void whenClassesShareANodeThenItIsOneProcessAndEachHasAKeyspaceOfItsOwn(
      LocalNode node, CqlSession session) {
    compareWithOther(node, session);
  }

  /** As Maven runs them with several processes. */
  @Test
  void whenALauncherRunsOneClassAtATimeThenTheyShareANode() {
    for (Class<?> one : List.of(SharedNodeTest.class, SharedNodeTest.class)) {
      SummaryGeneratingListener result = new SummaryGeneratingListener();
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(DiscoverySelectors.selectClass(one))
                  .build(),
              result);
      assertThat(result.getSummary().getFailures()).isEmpty();
      assertThat(result.getSummary().getTestsSucceededCount()).isOne();
    }
  }

  static void compareWithOther(LocalNode node, CqlSession session) {
    long pid = node.pid().orElseThrow();
    if (!PID_OF_SHARED.compareAndSet(null, pid)) {
      assertThat(PID_OF_SHARED.get()).isEqualTo(pid);
    }
    CqlIdentifier keyspace = session.getKeyspace().orElseThrow();
    if (!OTHER_KEYSPACE.compareAndSet(null, keyspace)) {
      assertThat(OTHER_KEYSPACE.get()).isNotEqualTo(keyspace);
    }
  }

  @Nested
  class Inside {
    @Test
    void whenAClassIsNestedThenItUsesWhatItsOutermostClassHas(CqlSession session) {
      assertThat(session.execute("SELECT id FROM accounts WHERE id = 2").one()).isNull();
    }
  }
}
