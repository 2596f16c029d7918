// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import java.util.List;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * What a workload does how often, and to which rows. The shares add up to 1.
 *
 * @param name in the names of cases and metrics
 * @param multiUpdates the share of updates of ten rows
 * @param readUpdates the share of reads of a row that is updated then, by another statement
 * @param isOfTheLatest whether rows are the more popular the later they were inserted; else some
 *     are popular, whenever they were inserted
 */
record Mix(
    String name,
    double reads,
    double updates,
    double multiUpdates,
    double inserts,
    double scans,
    double readUpdates,
    boolean isOfTheLatest) {
  static final int FIELDS = 10;

  /** The longest of YCSB's workload E, whose scans have any length up to it. */
  private static final int MAX_SCANNED = 100;

  /** Returns the mix that pH1 was measured with, and YCSB's workloads A to F. */
  public static List<Mix> all() {
    return List.of(
        new Mix("ph1", 0.45, 0.125, 0.125, 0, 0.3, 0, false),
        new Mix("a", 0.5, 0.5, 0, 0, 0, 0, false),
        new Mix("b", 0.95, 0.05, 0, 0, 0, 0, false),
        new Mix("c", 1, 0, 0, 0, 0, 0, false),
        new Mix("d", 0.95, 0, 0, 0.05, 0, 0, true),
        new Mix("e", 0, 0, 0, 0.05, 0.95, 0, false),
        new Mix("f", 0.5, 0, 0, 0, 0, 0.5, false));
  }

  /**
   * Returns YCSB's workload of this mix.
   *
   * @param rows that are loaded
   * @param rowBytes of the fields of a row together
   */
  CoreWorkload workload(String table, int rows, int rowBytes) {
    Properties settings = settings(table, rows, rowBytes);
    Measurements.setProperties(settings); // Workloads ask for it, though nothing reads it here.
    CoreWorkload workload = new MultiUpdateWorkload(multiUpdates);
    try {
      workload.init(settings);
    } catch (WorkloadException e) {
      throw new IllegalStateException("The settings of %s are wrong: %s".formatted(name, e), e);
    }
    return workload;
  }

  private Properties settings(String table, int rows, int rowBytes) {
    Properties settings = new Properties();
    settings.setProperty(CoreWorkload.TABLENAME_PROPERTY, table);
    settings.setProperty(Client.RECORD_COUNT_PROPERTY, Integer.toString(rows));
    // How many rows YCSB expects to be inserted while it runs depends on it.
    settings.setProperty(Client.OPERATION_COUNT_PROPERTY, Integer.toString(rows));
    settings.setProperty(CoreWorkload.FIELD_COUNT_PROPERTY, Integer.toString(FIELDS));
    settings.setProperty(
        CoreWorkload.FIELD_LENGTH_PROPERTY, Integer.toString(Math.max(1, rowBytes / FIELDS)));
    settings.setProperty(
        CoreWorkload.REQUEST_DISTRIBUTION_PROPERTY, isOfTheLatest ? "latest" : "zipfian");
    settings.setProperty(
        CoreWorkload.MAX_SCAN_LENGTH_PROPERTY, Integer.toString(Math.min(rows, MAX_SCANNED)));
    settings.setProperty(CoreWorkload.READ_PROPORTION_PROPERTY, Double.toString(reads));
    settings.setProperty(CoreWorkload.UPDATE_PROPORTION_PROPERTY, Double.toString(updates));
    settings.setProperty(CoreWorkload.INSERT_PROPORTION_PROPERTY, Double.toString(inserts));
    settings.setProperty(CoreWorkload.SCAN_PROPORTION_PROPERTY, Double.toString(scans));
    settings.setProperty(
        CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY, Double.toString(readUpdates));
    return settings;
  }
}
