// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

/** A decision that must not be asked for what a test does not say. */
abstract class TestDecision implements ReplicaGroup.Decision<String> {
  @Override
  public ReplicaGroup.Outcome<String> decide() {
    throw new AssertionError("It may have been made before.");
  }

  @Override
  public String repeated() {
    throw new AssertionError("It was not made.");
  }

  @Override
  public String declined() {
    throw new AssertionError("It was not declined.");
  }

  @Override
  public byte[] nothing() {
    throw new AssertionError("It writes.");
  }
}
