"""A window that shows tables to onlookers."""

from kille_env.errors import KilleError
from kille_env.pictures.raster import paint, pygame
from kille_env.pictures.scene import Scene


class Window:
    """A window on the screen, which can be resized and closed.

    Once a person has closed it, nothing is shown any more, and the match goes on. A process has one
    window of pygame: where several are shown, they take turns in it.
    """

    def __init__(self, title: str) -> None:
        """Open nothing yet; the first scene does."""
        self.title = title
        self._opened = self._closed = False
        self._scene: Scene | None = None

    def show(self, scene: Scene, seconds: float = 0.0) -> None:
        """Show a scene, for some time at least."""
        taken_away = self._opened and not self._closed and not pygame.display.get_init()
        if taken_away or not self._opened:  # another one has closed the window of the process
            self._open(scene)
        self._scene = scene
        self._draw()
        end = pygame.time.get_ticks() + 1000 * seconds
        while self._listen() and pygame.time.get_ticks() < end:
            pygame.time.wait(10)

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._opened and not self._closed:
            pygame.display.quit()
        self._closed = True

    def _open(self, scene: Scene) -> None:
        try:
            pygame.display.init()
            size = (round(scene.width), round(scene.height))
            pygame.display.set_mode(size, pygame.RESIZABLE)
        except pygame.error as error:
            raise KilleError(
                f'render_mode="human" opens a window, but there is no screen ({error}); '
                'render_mode="rgb_array" returns pictures, "ansi" texts'
            ) from error
        pygame.display.set_caption(self.title)
        self._opened = True

    def _draw(self) -> None:
        """Draw the scene as large as the window, in its middle."""
        if self._closed or self._scene is None:
            return
        screen = pygame.display.get_surface()
        width, height = screen.get_size()
        zoom = max(0.1, min(width / self._scene.width, height / self._scene.height))
        picture = paint(self._scene, zoom)
        screen.fill("black")
        screen.blit(picture, picture.get_rect(center=screen.get_rect().center))
        pygame.display.flip()

    def _listen(self) -> bool:
        """Handle the window's events; return whether it is still open."""
        for event in () if self._closed else pygame.event.get():
            if event.type == pygame.QUIT:
                self.close()
                break
            if event.type == pygame.VIDEORESIZE:
                self._draw()
        return not self._closed
