// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.rerun;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import java.lang.reflect.Proxy;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;

class OneChanceTest {
  private final OneChance chance = new OneChance();
  private final String id = UUID.randomUUID().toString();

  @Test
  void whenAnAnswerIsWrongThenTheTestFailsAgainWithoutBeingRun() {
    AssertionError wrong = new AssertionError("5 rows, not 4");
    assertFails(wrong);
    assertThatThrownBy(() -> chance.beforeEach(context())).hasCause(wrong);
  }

  @Test
  void whenAnInvariantBreaksThenTheTestFailsAgainWithoutBeingRun() {
    IllegalStateException broken = new IllegalStateException("stable is above last");
    assertFails(broken);
    assertThatThrownBy(() -> chance.beforeEach(context())).hasCause(broken);
  }

  @Test
  void whenANodeIsLateThenTheTestMayRunAgain() {
    assertFails(new ExecutionException(new DriverTimeoutException("after 40 s")));
    assertThatCode(() -> chance.beforeEach(context())).doesNotThrowAnyException();
  }

  @Test
  void whenAWrongAnswerComesBesideALateNodeThenItCountsAsWrong() {
    AssertionError wrong = new AssertionError("lost", new DriverTimeoutException("after 40 s"));
    assertThat(LateNodes.of(wrong)).isEmpty();
    assertThat(LateNodes.of(new DriverTimeoutException("after 40 s")))
        .contains(LateNodes.NO_ANSWER);
  }

  private void assertFails(Throwable failure) {
    assertThatThrownBy(() -> chance.handleTestExecutionException(context(), failure))
        .isSameAs(failure);
  }

  private ExtensionContext context() {
    return (ExtensionContext)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ExtensionContext.class},
            (proxy, method, arguments) -> id);
  }
}
