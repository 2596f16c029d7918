// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.cluster.ToolException;
import io.isolde.study.Results.Quantile;
import io.isolde.study.Results.SettingResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.internal.chartpart.Chart;

/** Writes a study as one HTML file that needs no other, and its figures as pictures. */
public final class StudyPage {
  private static final String STYLE =
      """
      body { font: 15px/1.5 system-ui, sans-serif; max-width: 800px; margin: 2em auto; padding: 0 1em; color: #222 }
      table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .25em .8em; border-bottom: 1px solid #ddd; text-align: right }
      td:first-child, th:first-child { text-align: left } svg { max-width: 100%; height: auto } figure { margin: 1em 0 } figcaption { color: #666 } h1 { font-size: 1.6em }
      """;

  private final Results results;

  public StudyPage(Results results) {
    this.results = results;
  }

  /**
   * Writes {@code report.html} and the pictures into a folder.
   *
   * @return the HTML file
   */
  public Path write(Path folder) {
    try {
      StringBuilder figures = new StringBuilder();
      for (Map.Entry<String, Chart<?, ?>> chart : Charts.of(results).entrySet()) {
        figures
            .append("<figure>")
            .append(svg(chart.getValue()))
            // The picture's own letters are outlines, which nobody can search or have read aloud.
            .append("<figcaption>")
            .append(escaped(chart.getValue().getTitle()))
            .append("</figcaption></figure>\n");
        Files.write(
            folder.resolve(chart.getKey() + ".png"),
            BitmapEncoder.getBitmapBytes(chart.getValue(), BitmapFormat.PNG));
      }
      return Files.writeString(folder.resolve("report.html"), html(figures.toString()));
    } catch (IOException e) {
      throw new ToolException("The report can't be written into %s.".formatted(folder), e);
    }
  }

  private static String svg(Chart<?, ?> chart) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    VectorGraphicsEncoder.saveVectorGraphic(chart, bytes, VectorGraphicsFormat.SVG);
    String document = bytes.toString(StandardCharsets.UTF_8);
    // Inside of HTML, without the prologue of an XML file.
    return document.substring(document.indexOf("<svg"));
  }

  private String html(String figures) {
    return """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><title>Isolde: a study of staleness</title>
        <style>%s</style></head><body>
        <h1>What weaker consistency costs and gains</h1>
        %s
        <h2>In short</h2>
        %s
        <h2>The paper's statements</h2>
        %s
        <h2>Figures</h2>
        %s
        <h2>Latencies</h2>
        %s
        <h2>Staleness</h2>
        %s
        %s
        </body></html>
        """
        .formatted(
            STYLE,
            description(),
            summary(),
            paperStatements(),
            figures,
            latencies(),
            staleness(),
            churnEvents());
  }

  private String description() {
    StringBuilder rows = new StringBuilder("<table>");
    results
        .description()
        .forEach(
            (name, value) ->
                rows.append("<tr><td>%s<td>%s".formatted(escaped(name), escaped(value))));
    return rows.append("</table>").toString();
  }

  private String summary() {
    if (results.summary() == null) {
      return "<p>Nothing was measured yet.</p>";
    }
    var summary = results.summary();
    return """
        <table>
        <tr><td>error of the predicted t-visibility (RMSE over all points of weak settings)<td>%s points
        <tr><td>of which chance alone, by the number of reads<td>%s points
        <tr><td>stale reads at strong settings<td>%d
        </table>"""
        .formatted(
            number(100 * summary.rmse()),
            number(100 * summary.noise()),
            summary.staleStrongReads());
  }

  private String paperStatements() {
    StringBuilder rows =
        new StringBuilder(
            "<p>How many times slower one setting is than another. Confirmed is what means and"
                + " medians have within a quarter of the paper's number; in kind only, what is"
                + " slower, but not so much.</p>"
                + "<table><tr><th>statement<th>paper<th>means<th>medians<th>confirmed?");
    for (PaperStatement each : PaperStatement.of(results.settings())) {
      rows.append(
          "<tr><td>%s<td>%.1f<td>%s<td>%s<td>%s"
              .formatted(
                  each.what(),
                  each.times(),
                  number(each.means()),
                  number(each.medians()),
                  each.verdict()));
    }
    return rows.append("</table>").toString();
  }

  private String latencies() {
    StringBuilder rows =
        new StringBuilder(
            "<p>Milliseconds: measured by the client, and (predicted) for the coordinator, to"
                + " which the client's own way comes, with 95% intervals.</p><table><tr><th>setting<th>read mean<th>p50"
                + "<th>p99<th>write mean<th>p50<th>p99<th>client's way, mean");
    for (SettingResult each : results.settings()) {
      rows.append(
          "<tr><td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s"
              .formatted(
                  each.name(),
                  both(each.read().mean(), each.readPredicted().mean()),
                  withInterval(each.read().p50(), each.readPredicted().p50()),
                  withInterval(each.read().p99(), each.readPredicted().p99()),
                  both(each.write().mean(), each.writePredicted().mean()),
                  withInterval(each.write().p50(), each.writePredicted().p50()),
                  withInterval(each.write().p99(), each.writePredicted().p99()),
                  number(each.roundTrip().mean())));
    }
    return rows.append("</table>").toString();
  }

  private String staleness() {
    StringBuilder rows =
        new StringBuilder(
            "<table><tr><th>setting<th>reads<th>stale<th>RMSE, points<th>of which chance"
                + "<th>requests that failed<th>rows not measured");
    for (SettingResult each : results.settings()) {
      rows.append(
          "<tr><td>%s<td>%d<td>%d<td>%s<td>%s<td>%d<td>%d"
              .formatted(
                  each.name(),
                  each.reads(),
                  each.staleReads(),
                  number(100 * each.rmse()),
                  number(100 * each.noise()),
                  each.errors(),
                  each.rowsLeftOut()));
    }
    return rows.append(
            "</table><p>Rows are not measured if too many are under way when they are due.")
        .toString();
  }

  private String churnEvents() {
    if (results.churn() == null) {
      return "";
    }
    StringBuilder rows = new StringBuilder("<h2>Churn, at R=1 W=1</h2><table>");
    for (Churn.Event event : results.churn().events()) {
      rows.append("<tr><td>%s s<td>%s".formatted(number(event.atSeconds()), escaped(event.what())));
    }
    return rows.append("</table><p>Rows not measured: %d.".formatted(results.churn().rowsLeftOut()))
        .toString();
  }

  private static String both(double measured, double predicted) {
    return "%s (%s)".formatted(number(measured), number(predicted));
  }

  private static String withInterval(double measured, Quantile predicted) {
    return "%s (%s [%s, %s])"
        .formatted(
            number(measured),
            number(predicted.value()),
            number(predicted.low()),
            number(predicted.high()));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
