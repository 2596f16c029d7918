// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.rerun;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Keeps a wrong answer from passing for a flake. Maven runs a failed test once more in the same
 * process; then this fails it again with its first failure, unless {@link LateNodes} names the
 * cause. It is in force for all tests of this module.
 */
public final class OneChance
    implements BeforeAllCallback,
        BeforeEachCallback,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler {

  /** By the unique id of the test or of the class. */
  private static final Map<String, Throwable> WRONG = new ConcurrentHashMap<>();

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    failAgain(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    failAgain(context);
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    note(context, failure);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    note(context, failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    note(context, failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    note(context, failure);
  }

  @Override
  public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    note(context, failure);
  }

  private static void note(ExtensionContext context, Throwable failure) throws Throwable {
    LateNodes.of(failure)
        .ifPresentOrElse(
            late ->
                System.err.printf(
                    "%s may run once more: %s.%n", context.getDisplayName(), late.cause()),
            () -> WRONG.putIfAbsent(context.getUniqueId(), failure));
    throw failure;
  }

  private static void failAgain(ExtensionContext context) {
    Throwable first = WRONG.get(context.getUniqueId());
    if (first != null) {
      throw new AssertionError("A wrong answer is no flake; it was not run again.", first);
    }
  }
}
