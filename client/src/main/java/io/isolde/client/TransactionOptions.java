// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * How a transaction starts and how often it is tried. Immutable; made by {@link #defaults()},
 * {@link #reading()}, {@link #asOf(long)} or {@link #builder()}.
 */
public final class TransactionOptions {
  private static final TransactionOptions DEFAULTS = builder().build();

  private final IsolationLevel isolationLevel;
  private final boolean readOnly;
  private final OptionalLong asOfMicros;
  private final int maxAttempts;
  private final Duration timeLimit;
  private final Duration backoffBase;
  private final Duration backoffCap;

  private TransactionOptions(Builder builder) {
    isolationLevel = builder.isolationLevel;
    asOfMicros = builder.asOfMicros;
    readOnly = builder.readOnly == null ? asOfMicros.isPresent() : builder.readOnly;
    maxAttempts = builder.maxAttempts;
    timeLimit = builder.timeLimit;
    backoffBase = builder.backoffBase;
    backoffCap = builder.backoffCap;
    require(
        readOnly || asOfMicros.isEmpty(),
        "A transaction AS OF an earlier timestamp reads only: leave out readOnly(false).");
    require(
        asOfMicros.orElse(0) >= 0,
        "The AS OF timestamp is %d microseconds, but it must not be negative."
            .formatted(asOfMicros.orElse(0)));
    require(
        maxAttempts >= 1, "maxAttempts is %d, but it must be at least 1.".formatted(maxAttempts));
    requirePositive("timeLimit", timeLimit);
    requirePositive("backoffBase", backoffBase);
    require(
        backoffCap.compareTo(backoffBase) >= 0,
        "backoffCap is %s, but it must be at least backoffBase, which is %s."
            .formatted(backoffCap, backoffBase));
  }

  /** Serializable, reading and writing, 20 attempts in 10 seconds. */
  public static TransactionOptions defaults() {
    return DEFAULTS;
  }

  /** Defaults, but read only: such a transaction can't run into a conflict. */
  public static TransactionOptions reading() {
    return builder().readOnly(true).build();
  }

  /** Defaults, but reading the data as it was at the timestamp, in microseconds. */
  public static TransactionOptions asOf(long micros) {
    return builder().asOfMicros(micros).build();
  }

  /** A builder that starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from these options. */
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.isolationLevel = isolationLevel;
    builder.readOnly = readOnly;
    builder.asOfMicros = asOfMicros;
    builder.maxAttempts = maxAttempts;
    builder.timeLimit = timeLimit;
    builder.backoffBase = backoffBase;
    builder.backoffCap = backoffCap;
    return builder;
  }

  /** See {@link Builder#isolationLevel(IsolationLevel)}. */
  public IsolationLevel isolationLevel() {
    return isolationLevel;
  }

  /** See {@link Builder#readOnly(boolean)}. */
  public boolean isReadOnly() {
    return readOnly;
  }

  /** See {@link Builder#asOfMicros(long)}. */
  public OptionalLong asOfMicros() {
    return asOfMicros;
  }

  /** See {@link Builder#maxAttempts(int)}. */
  public int maxAttempts() {
    return maxAttempts;
  }

  /** See {@link Builder#timeLimit(Duration)}. */
  public Duration timeLimit() {
    return timeLimit;
  }

  /** See {@link Builder#backoff(Duration, Duration)}. */
  public Duration backoffBase() {
    return backoffBase;
  }

  /** See {@link Builder#backoff(Duration, Duration)}. */
  public Duration backoffCap() {
    return backoffCap;
  }

  /** The statement that starts such a transaction. */
  String startStatement() {
    StringBuilder cql =
        new StringBuilder("START TRANSACTION ISOLATION LEVEL ").append(isolationLevel);
    if (readOnly) {
      cql.append(" READ ONLY");
    }
    asOfMicros.ifPresent(micros -> cql.append(" AS OF ").append(micros));
    return cql.toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TransactionOptions that
        && startStatement().equals(that.startStatement())
        && maxAttempts == that.maxAttempts
        && timeLimit.equals(that.timeLimit)
        && backoffBase.equals(that.backoffBase)
        && backoffCap.equals(that.backoffCap);
  }

  @Override
  public int hashCode() {
    return Objects.hash(startStatement(), maxAttempts, timeLimit, backoffBase, backoffCap);
  }

  @Override
  public String toString() {
    return "%s, at most %d attempts in %s, back-off %s to %s"
        .formatted(startStatement(), maxAttempts, timeLimit, backoffBase, backoffCap);
  }

  private static void requirePositive(String name, Duration value) {
    require(
        value.compareTo(Duration.ZERO) > 0,
        "%s is %s, but it must be longer than nothing.".formatted(name, value));
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new IllegalArgumentException(sentence);
    }
  }

  /** Collects options; {@link #build()} checks them. */
  public static final class Builder {
    private IsolationLevel isolationLevel = IsolationLevel.SERIALIZABLE;
    private Boolean readOnly;
    private OptionalLong asOfMicros = OptionalLong.empty();
    private int maxAttempts = 20;
    private Duration timeLimit = Duration.ofSeconds(10);
    private Duration backoffBase = Duration.ofMillis(5);
    private Duration backoffCap = Duration.ofMillis(500);

    private Builder() {}

    /**
     * Default: serializable. Snapshot aborts less often, but lets two transactions each write what
     * the other one read (write skew).
     */
    public Builder isolationLevel(IsolationLevel value) {
      isolationLevel = Objects.requireNonNull(value, "isolationLevel");
      return this;
    }

    /** Default: false, or true with {@link #asOfMicros}. Read-only transactions never conflict. */
    public Builder readOnly(boolean value) {
      readOnly = value;
      return this;
    }

    /**
     * Default: none, so the transaction reads the newest data. Too small: the versions are gone and
     * the server answers AS_OF_TOO_OLD. Too big, in the future: INVALID_TIMESTAMP. Implies read
     * only.
     */
    public Builder asOfMicros(long value) {
      asOfMicros = OptionalLong.of(value);
      return this;
    }

    /**
     * How often the function runs at most; default 20. Too small: conflicts on busy rows reach the
     * application. Too big: a row that everyone writes is fought over for the whole time limit.
     */
    public Builder maxAttempts(int value) {
      maxAttempts = value;
      return this;
    }

    /**
     * How long after the first begin a new attempt may start; default 10 s. The same time again is
     * given to a COMMIT whose answer was lost, as a late answer is better than an unknown outcome.
     * Too small: a change of the oracle's leader, or a lost answer, reaches the application. Too
     * big: callers wait long when a node is gone.
     */
    public Builder timeLimit(Duration value) {
      timeLimit = Objects.requireNonNull(value, "timeLimit");
      return this;
    }

    /**
     * The pause before another attempt is random between nothing and {@code base}, doubled with
     * each attempt up to {@code cap}; default 5 ms and 500 ms. Too small: those who conflicted
     * conflict again. Too big: attempts run out of the time limit while nothing happens.
     */
    public Builder backoff(Duration base, Duration cap) {
      backoffBase = Objects.requireNonNull(base, "base");
      backoffCap = Objects.requireNonNull(cap, "cap");
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException with a sentence, if they don't go together
     */
    public TransactionOptions build() {
      return new TransactionOptions(this);
    }
  }
}
