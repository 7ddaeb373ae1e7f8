import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.swing.JFrame;
import javax.swing.JScrollPane;
import javax.swing.JTextArea;
import javax.swing.SwingUtilities;
import javax.swing.event.DocumentEvent;
import javax.swing.event.DocumentListener;

/** A window of Swing with a page, whose text goes to LOG.text as it is now. */
class Editor {
    public static void main(String[] arguments) {
        Path kept = Path.of(arguments[0] + ".text");
        SwingUtilities.invokeLater(() -> open(kept));
    }

    private static void open(Path kept) {
        JTextArea page = new JTextArea();
        page.getDocument().addDocumentListener(new DocumentListener() {
            @Override
            public void insertUpdate(DocumentEvent event) {
                keep(kept, page.getText());
            }

            @Override
            public void removeUpdate(DocumentEvent event) {
                keep(kept, page.getText());
            }

            @Override
            public void changedUpdate(DocumentEvent event) {
            }
        });
        JFrame frame = new JFrame("Form Swing");
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.add(new JScrollPane(page));
        frame.setSize(500, 400);
        frame.setVisible(true);
        page.requestFocusInWindow();
    }

    private static void keep(Path kept, String text) {
        try {
            Files.writeString(kept, text);
        } catch (IOException problem) {
            throw new IllegalStateException(problem);
        }
    }
}
