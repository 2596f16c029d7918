// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PushNodesTest {
  private final AtomicInteger asked = new AtomicInteger();

  /** A session that may not read where nodes push changes. */
  private CqlSession withoutGrant() {
    return (CqlSession)
        Proxy.newProxyInstance(
            CqlSession.class.getClassLoader(),
            new Class<?>[] {CqlSession.class},
            (proxy, method, arguments) -> answer(proxy, method.getName(), arguments));
  }

  private Object answer(Object proxy, String method, Object[] arguments) {
    return switch (method) {
      case "executeAsync" -> {
        asked.incrementAndGet();
        yield CompletableFuture.failedFuture(new UnauthorizedException(null, "no grant"));
      }
      case "hashCode" -> 1;
      case "equals" -> proxy == arguments[0];
      default -> throw new UnsupportedOperationException(method);
    };
  }

  @Test
  void whenManyLookAtOnceThenOneAsksAndAMissingGrantMeansNoPorts() {
    CqlSession session = withoutGrant();
    for (int i = 0; i < 1_000; i++) {
      PushNodes nodes = new PushNodes.OfSession(session);
      assertThat(nodes.find().toCompletableFuture().join()).isEmpty();
    }
    assertThat(asked.get()).isBetween(1, 3); // Again after a second.
  }
}
