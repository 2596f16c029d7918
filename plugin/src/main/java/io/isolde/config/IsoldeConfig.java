// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * The settings of a node. Immutable, checked when it is made; every default is safe.
 *
 * <p>Each setting is documented at its component and in {@code docs/operating.md}: its default, and
 * what breaks when it is too small or too big.
 */
public record IsoldeConfig(
    VersionSettings versions,
    TransactionSettings transactions,
    OracleSettings oracle,
    StrongSettings strong,
    SnapshotSettings snapshots,
    StalenessSettings staleness,
    PushSettings push) {
  static final long MIB = 1L << 20;

  private static final class Holder {
    static final IsoldeConfig OF_THIS_NODE = IsoldeYaml.load(System.getProperty("isolde.config"));
  }

  public IsoldeConfig {
    require(
        oracle.port() != strong.port() && oracle.port() != strong.port() + 1,
        "strong_port and the next must not be the oracle_port.");
    require(
        push.port() != oracle.port()
            && push.port() != strong.port()
            && push.port() != strong.port() + 1,
        "push_port must not be the oracle_port, the strong_port or the next.");
  }

  static IsoldeConfig of(IsoldeYaml file, HeapBudget heap) {
    return new IsoldeConfig(
        VersionSettings.of(file, heap),
        TransactionSettings.of(file, heap),
        OracleSettings.of(file, heap),
        StrongSettings.of(file),
        SnapshotSettings.of(file),
        StalenessSettings.of(file),
        PushSettings.of(file));
  }

  /**
   * The settings in the file that the system property {@code isolde.config} names; the defaults if
   * there is no such property.
   *
   * @throws ConfigurationException if the file can't be read, or a value is refused
   */
  public static IsoldeConfig ofThisNode() {
    return Holder.OF_THIS_NODE;
  }

  static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new ConfigurationException(sentence);
    }
  }

  /** Says in a full sentence which setting is refused and why. */
  public static final class ConfigurationException extends RuntimeException {
    public ConfigurationException(String sentence) {
      super("isolde.yaml: " + sentence);
    }
  }
}
