// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.pop3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How locks are renewed while the cluster misbehaves. */
class CqlDropLocksTest {
  private static final Duration OFTEN = Duration.ofMillis(5);

  private final CqlSession session = mock();

  @BeforeEach
  void answer() {
    PreparedStatement prepared = mock();
    BoundStatement bound = mock();
    ResultSet applied = mock();
    when(session.prepare(any(SimpleStatement.class))).thenReturn(prepared);
    when(prepared.bind(any(Object[].class))).thenReturn(bound);
    when(session.execute(any(Statement.class))).thenReturn(applied);
    when(applied.wasApplied()).thenReturn(true);
  }

  @Test
  void whenARenewalFailsInAnyWayThenTheNextOneIsTried() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    CountDownLatch renewed = new CountDownLatch(1);
    AsyncResultSet applied = mock();
    when(applied.wasApplied()).thenReturn(true);
    when(session.executeAsync(any(Statement.class)))
        .thenAnswer(
            call -> {
              if (tries.incrementAndGet() == 1) {
                throw new IllegalStateException("No error of the driver");
              }
              renewed.countDown();
              return CompletableFuture.completedFuture(applied);
            });
    try (CqlDropLocks locks = new CqlDropLocks(session, "mail", OFTEN)) {
      DropLocks.Held lock = locks.tryLock("alice").orElseThrow();
      assertThat(renewed.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(lock.isHeld()).isTrue();
    }
  }

  @Test
  void whenTheAnswerToOneRenewalIsLateThenTheOthersAreRenewed() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    CountDownLatch others = new CountDownLatch(2);
    AsyncResultSet applied = mock();
    when(applied.wasApplied()).thenReturn(true);
    when(session.executeAsync(any(Statement.class)))
        .thenAnswer(
            call -> {
              if (tries.incrementAndGet() == 1) {
                return new CompletableFuture<AsyncResultSet>();
              }
              others.countDown();
              return CompletableFuture.completedFuture(applied);
            });
    try (CqlDropLocks locks = new CqlDropLocks(session, "mail", OFTEN)) {
      assertThat(locks.tryLock("alice")).isPresent();
      assertThat(locks.tryLock("bob")).isPresent();
      assertThat(others.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void whenAnotherServerHasTheLockThenItIsLost() throws Exception {
    AsyncResultSet refused = mock();
    when(session.executeAsync(any(Statement.class)))
        .thenAnswer(call -> CompletableFuture.completedFuture(refused));
    try (CqlDropLocks locks = new CqlDropLocks(session, "mail", OFTEN)) {
      DropLocks.Held lock = locks.tryLock("alice").orElseThrow();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (lock.isHeld()) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        Thread.sleep(1);
      }
    }
  }
}
